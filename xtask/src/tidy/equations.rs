//! Equations of the papers are cited in one form, `[KP] (5.3)`, with ranges `[KP] (5.3)–(5.5)` and lists `[KP] (5.3), (5.5)`; other places
//! by a word, `[KP] section 6`. From these citations `docs/equations.md` is written: which equation stands in which file and line.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Problem;
use super::doc_text::{blocks, passages};
use crate::workspace::TextFile;

/// Where the index stands.
pub(super) const INDEX: &str = "docs/equations.md";

/// The papers whose equations are indexed, in the order of the bibliography.
const PAPERS: [(&str, &str); 5] = [
    ("KP", "Kaufman & Pai"),
    ("TL", "Tran & Leok"),
    ("LMO", "Leyendecker, Marsden & Ortiz"),
    ("GO", "García Orden"),
    ("PB", "Patil & Brüls"),
];

/// A number as it sorts: chapter or appendix, number, letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number(Vec<(u32, String)>);

/// Citations of equations, by paper and number: files and lines.
type Cited = BTreeMap<(usize, Number), (String, Vec<(String, usize)>)>;

/// Citations that have another form.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    each(files, |file, line, _, text, after| {
        if let Some(what) = misformed(text, after) {
            problems.push(Problem::at(file, line, what));
        }
    });
    problems
}

/// The page.
pub(super) fn index(files: &[TextFile]) -> String {
    let mut cited = Cited::new();
    each(files, |file, line, paper, _, after| {
        for equation in equations(after) {
            let place = (file.to_owned(), line);
            let entry = cited
                .entry((paper, number(equation)))
                .or_insert_with(|| (equation.to_owned(), Vec::new()));
            if !entry.1.contains(&place) {
                entry.1.push(place);
            }
        }
    });
    let mut page = "# Where the equations are\n\nThe docs of the code cite equations as `[KP] (5.3)`. This page is written from those citations by `cargo xtask tidy`; the papers stand in\n[REFERENCES.md](../REFERENCES.md).\n".to_owned();
    for (paper, (key, authors)) in PAPERS.iter().enumerate() {
        let _ = write!(page, "\n## [{key}] {authors}\n\n| equation | where |\n|---|---|\n");
        for (_, (equation, places)) in cited.iter().filter(|((p, _), _)| *p == paper) {
            let links: Vec<String> =
                places.iter().map(|(f, l)| format!("[{f}:{l}](../{f}#L{l})")).collect();
            let _ = writeln!(page, "| ({equation}) | {} |", links.join(", "));
        }
    }
    page
}

/// Every citation of a paper in doc comments: file, line, paper, the text up to it, and what follows it.
fn each(files: &[TextFile], mut visit: impl FnMut(&str, usize, usize, &str, &str)) {
    for file in files.iter().filter(|file| file.is_rust()) {
        for passage in blocks(&file.text).iter().flat_map(passages) {
            for (open, _) in passage.text.match_indices('[') {
                let rest = &passage.text[open + 1..];
                let paper = PAPERS.iter().position(|(key, _)| {
                    rest.strip_prefix(key).is_some_and(|r| r.starts_with([']', ',', ' ']))
                });
                let Some(paper) = paper else { continue };
                let after = &rest[PAPERS[paper].0.len()..];
                visit(&file.path, passage.line(open), paper, &passage.text[..open], after);
            }
        }
    }
}

/// What is wrong with a citation, by what stands before its bracket and after its key.
fn misformed(before: &str, after: &str) -> Option<String> {
    let form = "cite as `[KP] (5.3)`, `[KP] section 6`";
    let Some(after) = after.strip_prefix(']') else {
        return Some(format!("places stand behind the bracket, not in it: {form}"));
    };
    let word = after.trim_start_matches([' ', '\n']);
    let bare = word.starts_with(|c: char| c.is_ascii_digit())
        || ["eq.", "Eq.", "equation", ", (", ", section", ", eq", ", Algorithm", ", §", "§"]
            .iter()
            .any(|start| word.starts_with(start));
    let turned =
        before.trim_end().ends_with(')')
            && before.trim_end().rsplit('(').next().is_some_and(|inside| {
                is_number(inside.trim_end_matches(')')) && inside.contains('.')
            });
    (bare || turned).then(|| format!("an equation stands in parentheses behind its paper: {form}"))
}

/// The numbers of the equations that follow a citation: `(5.3)`, `(5.3), (5.5)`, `(5.3)–(5.5)`, `(5.3) and (5.4)`.
fn equations(after: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let Some(mut rest) = after.strip_prefix(']') else { return found };
    loop {
        rest = rest.trim_start_matches([' ', '\n']);
        let Some((inside, more)) = rest.strip_prefix('(').and_then(|r| r.split_once(')')) else {
            return found;
        };
        if !is_number(inside) {
            return found;
        }
        found.push(inside);
        let next = more.trim_start_matches([' ', '\n']);
        let joined = [",", "–", "and", "to"].iter().find_map(|join| next.strip_prefix(join));
        let Some(joined) = joined else { return found };
        rest = joined;
    }
}

/// `5.3`, `A.11`, `2.8a`, `22`.
fn is_number(text: &str) -> bool {
    let bare = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let parts: Vec<&str> = bare.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let chapter = parts[0].len() == 1 && parts[0].bytes().all(|b| b.is_ascii_uppercase());
    text.len() - bare.len() <= 1
        && parts.len() <= 3
        && (digits(&parts[0]) || (chapter && parts.len() > 1))
        && parts[1..].iter().all(digits)
}

fn number(text: &str) -> Number {
    let part = |part: &str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        // Appendices follow the chapters.
        (digits.parse().unwrap_or(u32::MAX), part[digits.len()..].to_owned())
    };
    Number(text.split('.').map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn source(text: &str) -> [TextFile; 1] {
        [file("a.rs", &format!("//! {text}\n"))]
    }

    #[test]
    fn one_form_passes_and_others_fail() {
        for good in
            ["\\[KP\\] (5.3)", "\\[TL\\] section 6", "\\[KP\\] Algorithm 2", "\\[GO\\] show it"]
        {
            assert_eq!(check(&source(good)), [], "{good}");
        }
        for bad in [
            "\\[KP\\], (5.3)",
            "\\[TL\\] 4.1",
            "(7.4) \\[KP\\]",
            "\\[KP, §4\\]",
            "\\[KP\\] eq. (4)",
        ] {
            assert_eq!(check(&source(bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn the_index_sorts_numbers_and_follows_lists() {
        let page = index(&source(
            "\\[TL\\] (10.2), (2.8a)–(2.8b) and (A.5); \\[LMO\\] (9) and \\[LMO\\] (22)",
        ));
        let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}: {page}"));
        let order = ["| (2.8a) |", "| (2.8b) |", "| (10.2) |", "| (A.5) |", "| (9) |", "| (22) |"];
        assert!(order.windows(2).all(|w| place(w[0]) < place(w[1])), "{page}");
        assert!(page.contains("[a.rs:1](../a.rs#L1)"));
    }
}
