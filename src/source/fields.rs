//! Every field of a description, for the help, the guide and `source edit`.

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// As `source edit` names it.
    pub name: &'static str,
    /// Whether what stands after `=` is a text as it is, be it `1984` or `true`.
    pub is_text: bool,
    pub about: &'static str,
}

macro_rules! fields {
    ($($kind:ident $name:literal $about:literal;)*) => {
        /// In the order in which they are explained.
        pub const FIELDS: &[Field] =
            &[$(Field { name: $name, is_text: fields!(@ $kind), about: $about },)*];
    };
    (@ text) => { true };
    (@ other) => { false };
}

fields! {
    text "name" "what people call the source";
    text "website" "its website, or its page in a social network";
    other "content_type" "what kind of content it has: one word or a list";
    other "amount" "how much there is: a number of records, or words";
    text "technique" "how its records are taken";
    other "complexity" "how hard that is, from 1 to 5";
    text "model" "the metadata model of its records";
    text "endpoint" "the address that programs ask, for techniques without a table of their own";
    other "subjects" "subjects, each with a relevance from 0 to 1";
    other "importance" "from 0 to 1: what comes first, and whose word counts more";
    text "schedule" "manual, hourly, daily, weekly or monthly";
    other "enabled" "whether it is harvested at all";
    text "duplicates" "`none` when the source vouches that no two of its records describe one thing";
    text "note" "what else there is to know";
    text "oai.url" "the base URL of an OAI-PMH repository";
    text "oai.prefix" "the metadata prefix; the best on offer when it is not given";
    other "oai.sets" "only these sets";
    text "oai.from" "nothing older than this day or moment";
    text "oai.until" "nothing newer";
    other "oai.window" "the days of one date window";
    other "oai.overlap" "from how many seconds before the beginning of the last complete harvest the next one asks";
    text "oai.granularity" "`day` or `second`, against what the repository says";
    text "oai.verb" "`ListRecords`, or `ListIdentifiers` to ask for each record by itself";
    other "file.paths" "the files to read";
    text "file.format" "their format, against what the content shows";
    text "file.charset" "their character set, against what they say";
    text "file.id" "the column or key that identifies a row";
    text "file.content_type" "the content type of records that do not tell";
    text "file.model" "what the columns of a table mean";
    other "file.replace" "whether the files are all the source has";
    other "access.allow_private" "private addresses that may be asked all the same";
    other "access.delay" "seconds between two requests, at least";
    other "access.concurrency" "requests at a time, at most";
    other "access.respect_robots" "whether robots.txt is obeyed";
    text "access.contact" "an address that the source can write to";
    other "access.allow_downgrade" "whether https may redirect to http";
    other "access.timeouts.connect" "seconds until a connection must stand";
    other "access.timeouts.idle" "seconds without a byte";
    other "access.timeouts.total" "seconds for a whole answer";
    other "access.limits.body" "the bytes of one answer after decompression, at most";
    other "access.limits.ratio" "how many times its size a compressed answer may grow";
    other "access.limits.header" "the bytes of all headers of an answer";
    other "access.limits.headers" "the lines of headers";
    other "access.limits.redirects" "redirects that are followed";
    other "access.retries.attempts" "attempts for one page, the first included";
    other "access.retries.first_wait" "seconds before the second attempt; each further wait is twice as long";
    other "access.retries.longest_wait" "the longest wait in seconds";
    other "access.retries.budget" "attempts beyond the first that a session has in stock";
    other "access.retries.patience" "seconds for one page with all attempts and waits";
    text "access.basic.user_env" "the variable with the user name";
    text "access.basic.password_env" "the variable with the password";
    text "access.bearer.token_env" "the variable with a bearer token";
    text "access.header.name" "the header that carries a key";
    text "access.header.value_env" "the variable with the key";
    text "access.login.url" "where a login form is sent";
    other "access.login.fields" "what goes into the form";
    text "access.login.expired" "a text by which an answer shows that the session has ended";
    text "access.login.logout" "where the session is closed";
    text "access.token.url" "where a token is given for a while";
    other "access.token.fields" "what is sent for it";
}
