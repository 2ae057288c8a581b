//! Every formula in the docs renders. The pages typeset `$…$` and `$$…$$` with KaTeX after Markdown has had
//! its way with the text, so a formula is taken as the page shows it, must not have been changed by Markdown,
//! and is then typeset by a port of KaTeX itself.

use katex::types::{StrictMode, StrictSetting};
use katex::{KatexContext, Settings};

use super::Problem;
use super::doc_text::{Change, Passage, blocks, passages};
use crate::workspace::TextFile;

pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let katex = KatexContext::default();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for passage in blocks(&file.text).iter().flat_map(passages) {
            for (offset, what) in complaints(&passage, &katex) {
                problems.push(Problem::at(&file.path, passage.line(offset), what));
            }
        }
    }
    problems
}

/// What is wrong with the formulas of a passage, by offset into its text.
fn complaints(passage: &Passage, katex: &KatexContext) -> Vec<(usize, String)> {
    let mut complaints = Vec::new();
    let mut from = 0;
    while let Some(start) = passage.text[from..].find('$').map(|at| from + at) {
        let delimiter = if passage.text[start..].starts_with("$$") { "$$" } else { "$" };
        let open = start + delimiter.len();
        let Some(length) = find_end(&passage.text[open..], delimiter) else {
            complaints.push((
                start,
                format!("`{delimiter}` opens a formula that nothing closes: close it, or put a dollar into backticks"),
            ));
            break;
        };
        let formula = &passage.text[open..open + length];
        let shown = formula.replace('\n', " ");
        let inside = |offset: &usize| (open..open + length).contains(offset);
        let mut changed = passage.changes.iter().filter(|(at, _)| inside(at));
        if let Some((at, what)) =
            changed.find_map(|(at, change)| Some((*at, harm(&passage.text, *at, change)?)))
        {
            complaints.push((at, format!("{what} in ${shown}$")));
        } else if let Err(reason) = typeset(formula, delimiter == "$$", katex) {
            complaints.push((start, format!("{reason} in ${shown}$")));
        }
        from = open + length + delimiter.len();
    }
    complaints
}

/// Where the formula that `text` begins with ends: at the delimiter outside of braces, as KaTeX's
/// auto-render extension looks for it.
fn find_end(text: &str, delimiter: &str) -> Option<usize> {
    let mut depth = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if depth <= 0 && !escaped && text[at..].starts_with(delimiter) {
            return Some(at);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Why a change by Markdown spoils a formula; `None` where the author meant it: `\_` keeps Markdown from
/// reading emphasis and reaches KaTeX as `_`, a doubled backslash reaches it as one.
fn harm(text: &str, at: usize, change: &Change) -> Option<String> {
    let mut rest = text[at..].chars();
    match change {
        Change::Cut(what) => {
            Some(format!("Markdown reads {what}: put a backslash before its `_`, `*`, `[` or `<`"))
        }
        Change::Replaced(written) => {
            Some(format!("Markdown shows something else for `{written}`: write `\\{written}`"))
        }
        Change::Unescaped => match (rest.next()?, rest.next()) {
            ('\\', after) => {
                let lone = !text[..at].ends_with('\\') && after.is_none_or(char::is_whitespace);
                lone.then(|| {
                    "Markdown makes one backslash of two: write `\\cr` for a new row".into()
                })
            }
            ('_' | '*' | '[' | ']' | '<' | '\'' | '.' | '-', _) => None,
            (c, _) => Some(format!("Markdown takes the backslash of `\\{c}`: write `\\\\{c}`")),
        },
    }
}

/// Typesets a formula as the pages do, less forgiving: what KaTeX would only warn of is an error.
fn typeset(formula: &str, display: bool, katex: &KatexContext) -> Result<(), String> {
    let settings = Settings::builder()
        .display_mode(display)
        .strict(StrictSetting::Mode(StrictMode::Error))
        .build();
    // The message underlines the culprit with combining characters, which terminals garble.
    katex::render_to_string(katex, formula, &settings)
        .map(drop)
        .map_err(|error| error.to_string().replace('\u{332}', "").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn check_text(text: &str) -> Vec<String> {
        check(&[file("a.rs", text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn good_formulas_pass() {
        let good = [
            r"$0 \le z \perp Mz + q \ge 0$",
            r"$\mathbf{q}^{t+1}$ and $\lambda_i \\, \nabla g_i$",
            r"$$ \begin{pmatrix} M & G^\top \cr G & 0 \end{pmatrix} $$",
            r"$$ \begin{aligned} a &= b \\\\ c &= d \end{aligned} $$",
            r"$\lbrace x \mid x^\ast \rbrace$, $h = 10^{-3}\ \mathrm{s}$, $α$, $\Vert f \Vert_\infty$",
            r"$\mathrm{Ad}\_G \xi + \mathrm{ad}\_\xi \eta$, $a \* b$, $q\'$, $\\{1, \ldots\\}$",
            r"$\text{if $x$}$ and `$code$` and nothing",
        ];
        for formula in good {
            assert_eq!(check_text(&format!("/// {formula}\n")), [""; 0], "{formula}");
        }
    }

    #[test]
    fn a_formula_over_lines_passes() {
        assert_eq!(check_text("//! $$ a\n//!   = b \\tag{1} $$\n"), [""; 0]);
    }

    #[test]
    fn unknown_commands_are_named_with_their_line() {
        let found = check_text("/// Text.\n///\n/// Then $\\SE(3)$.\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:3: ") && found[0].contains("\\SE"), "{found:?}");
    }

    #[test]
    fn every_problem_is_listed() {
        assert_eq!(check_text("/// $\\one$ $\\two$\n\n/// $\\three$\n").len(), 3);
    }

    #[test]
    fn what_markdown_changes_fails() {
        for spoilt in [
            "$a_*b*c$",
            "$f_{i}_x and g_{j}_y$",
            r"$a\,b$",
            r"$\{x\}$",
            "$q'$",
            "$a `b` c$",
            r"$\begin{matrix} a \\ b \end{matrix}$",
        ] {
            assert_eq!(check_text(&format!("/// {spoilt}\n")).len(), 1, "{spoilt}");
        }
    }

    #[test]
    fn broken_formulas_fail() {
        for broken in ["$\\frac{a$", "$x_1_2$", "$\\left( x$", "a lone $ sign", "$\\tag{1} x$"] {
            assert_eq!(check_text(&format!("/// {broken}\n")).len(), 1, "{broken}");
        }
    }
}
