//! Claims with the findings of several sources, one below the other.

use crate::model::{Compared, Finding};
use maud::{Markup, html};

pub(super) fn table(rows: &[Compared]) -> Markup {
    html! {
        div.scroll {
            table.compared {
                caption { "Published and measured" }
                thead { tr { @for head in ["Claim", "Source", "Measured", "Check"] { th scope="col" { (head) } } } }
                @for row in rows { tbody {
                    tr {
                        th scope="rowgroup" rowspan=(row.findings.len() + 1) {
                            (row.id) span.source { (row.source) }
                        }
                        th scope="row" { "published" }
                        td { (row.published) }
                        td { (row.check) }
                    }
                    @for finding in &row.findings { (found(finding)) }
                } }
            }
        }
    }
}

fn found(finding: &Finding) -> Markup {
    html! {
        tr {
            th scope="row" { (finding.who) }
            td {
                (finding.measured)
                @if !finding.caveat.is_empty() { p.note { (finding.caveat) } }
            }
            td {
                span class={ "status " (finding.status.key()) } {
                    span aria-hidden="true" { (finding.status.symbol()) } " " (finding.status.words())
                }
            }
        }
    }
}
