//! Resumption tokens: which list each belongs to, where it goes on, and whether it still does.
//!
//! A list is fixed when it is first asked for; its pages show the records as they are when the
//! page is asked for. The same place of the same list always has the same token, so a page can
//! be asked again.

use super::description::Dice;
use super::request::Verb;
use jiff::Timestamp;
use std::collections::HashMap;

/// What a list request found.
#[derive(Clone, Debug)]
pub struct Listing {
    pub verb: Verb,
    pub prefix: String,
    /// Numbers of records, or places in the table of sets.
    pub found: Vec<usize>,
    begun: Timestamp,
    uses: usize,
    expired: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    listing: usize,
    cursor: usize,
}

#[derive(Debug)]
pub struct Tokens {
    seed: u64,
    uses: Option<usize>,
    lifetime: Option<std::time::Duration>,
    listings: Vec<Listing>,
    issued: HashMap<String, Place>,
    fresh: usize,
}

impl Tokens {
    pub fn new(seed: u64, uses: Option<usize>, lifetime: Option<std::time::Duration>) -> Self {
        Self { seed, uses, lifetime, listings: Vec::new(), issued: HashMap::new(), fresh: 0 }
    }

    /// Begins a list and gives its number.
    pub fn begin(&mut self, verb: Verb, prefix: &str, found: Vec<usize>, now: Timestamp) -> usize {
        let prefix = prefix.to_owned();
        self.listings.push(Listing { verb, prefix, found, begun: now, uses: 0, expired: false });
        self.listings.len() - 1
    }

    pub fn listing(&self, number: usize) -> &Listing {
        &self.listings[number]
    }

    /// Where a token goes on: the number of its list and the cursor. Layout around a token is
    /// not part of it.
    pub fn resume(&mut self, token: &str, verb: Verb, now: Timestamp) -> Option<(usize, usize)> {
        let place = *self.issued.get(token).or_else(|| self.issued.get(token.trim()))?;
        let (uses, lifetime) = (self.uses, self.lifetime);
        let listing = &mut self.listings[place.listing];
        let lived_out = lifetime.is_some_and(|lifetime| now >= listing.begun + lifetime);
        let used_up = uses.is_some_and(|uses| listing.uses >= uses);
        if listing.verb != verb || listing.expired || lived_out || used_up {
            return None;
        }
        listing.uses += 1;
        Some((place.listing, place.cursor))
    }

    /// The token for a place of a list.
    pub fn issue(&mut self, listing: usize, cursor: usize) -> String {
        self.issue_with(listing, cursor, 0)
    }

    /// A token for a place of a list that no one has seen before.
    pub fn issue_fresh(&mut self, listing: usize, cursor: usize) -> String {
        self.fresh += 1;
        self.issue_with(listing, cursor, self.fresh)
    }

    // `+`, `/` and `=` mean something in a query: who does not encode them is refused.
    fn issue_with(&mut self, listing: usize, cursor: usize, salt: usize) -> String {
        let random = Dice::new(self.seed, listing ^ (cursor << 20) ^ (salt << 40)).next();
        let token = format!("{random:016x}/{listing}+{cursor}+{salt}==");
        self.alias(token.clone(), listing, cursor);
        token
    }

    /// Lets another text stand for a place of a list.
    pub fn alias(&mut self, token: String, listing: usize, cursor: usize) {
        self.issued.insert(token, Place { listing, cursor });
    }

    /// When a list expires, if it does.
    pub fn expiration(&self, listing: usize) -> Option<Timestamp> {
        self.lifetime.map(|lifetime| self.listings[listing].begun + lifetime)
    }

    /// From now on all tokens issued so far are bad.
    pub fn expire_all(&mut self) {
        for listing in &mut self.listings {
            listing.expired = true;
        }
    }

    /// From now on the tokens of the list that a token belongs to are bad.
    pub fn expire(&mut self, token: &str) {
        if let Some(place) = self.issued.get(token.trim()) {
            self.listings[place.listing].expired = true;
        }
    }
}
