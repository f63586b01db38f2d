//! `pinakes resolve features`

use super::super::progress::Progress;
use super::super::{Done, General};
use super::Profile;
use pinakes::pipeline::{self, Session};
use std::io::Write;

/// Print what records are compared by
///
/// One line for each value that the queries of a profile read: source, id, node, feature and value, with
/// tabs between them. A key that a query gave has the feature `key`. Other programs that match records
/// can start from this table.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve features > features.tsv
  pinakes resolve features --profile agent")]
pub(super) struct Features {
    /// The profile whose queries are asked
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
}

impl Features {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let cell = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        writeln!(out, "source\tid\tnode\tfeature\tvalue")?;
        pipeline::each_feature(&session, self.profile.kind(), &mut progress, |row| {
            let cells = [row.source, row.id, row.node, row.feature, row.value].map(cell);
            Ok(writeln!(out, "{}", cells.join("\t"))?)
        })?;
        out.flush()?;
        Ok(Done::Well)
    }
}
