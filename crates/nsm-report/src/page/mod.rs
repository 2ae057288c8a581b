//! The frame of every page: one file with its style and script, that asks nothing of the network.

use crate::plot::escape;
use crate::viewer;

const STYLE: &str = include_str!("page.css");

/// A page with this title and body.
pub fn page(title: &str, body: &str) -> String {
    let script = if body.contains("class=\"scene\"") {
        format!("<script>{}</script>", viewer::SCRIPT)
    } else {
        String::new()
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{STYLE}</style></head><body><main>{body}</main>{script}</body></html>\n",
        escape(title)
    )
}

/// A table with heads; cells are HTML.
pub fn table(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |tag: &str, cells: &[String]| {
        format!("<tr><{tag}>{}</{tag}></tr>", cells.join(&format!("</{tag}><{tag}>")))
    };
    let body: String = rows.iter().map(|row| line("td", row)).collect();
    format!(
        "<div class=\"scroll\"><table><thead>{}</thead><tbody>{body}</tbody></table></div>",
        line("th", heads)
    )
}
