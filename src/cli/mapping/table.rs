//! `pinakes mapping table`

use super::super::{Done, General, output};
use pinakes::concordance::table;

/// Print the concordance as a table: what each model calls the same thing
///
/// A row for everything a description can say, a column for MARC 21, UNIMARC, MODS, Dublin Core,
/// BIBFRAME, FRBR, RDA and schema.org, as Markdown. The table is made from the rules in force;
/// what only one model can say comes last. docs/concordance-table.md is this table for the
/// shipped rules.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping table > concordance-table.md
  pinakes mapping table | grep '245 \\$a'")]
pub(super) struct Table {}

impl Table {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let set = super::in_force(general)?;
        output::line(table(&set).trim_end())?;
        Ok(Done::Well)
    }
}
