//! Every citation in the docs resolves in REFERENCES.md. A citation is a bracket with a key of capitals,
//! `[KP]`, or with authors and year, `[Vouga et al. 2017, eq. (3)]`; several are parted by semicolons. (In
//! the comment a bare key is written `\[KP\]`, because rustdoc takes `[KP]` for a link to an item.)

use super::Problem;
use super::doc_text::{blocks, passages};
use crate::workspace::TextFile;

const BIBLIOGRAPHY: &str = "REFERENCES.md";

pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let bibliography = files.iter().find(|file| file.path == BIBLIOGRAPHY);
    let known: Vec<&str> =
        bibliography.iter().flat_map(|file| file.text.lines()).filter_map(entry).collect();
    let mut problems = Vec::new();
    for (i, key) in known.iter().enumerate() {
        if known[..i].contains(key) {
            problems.push(Problem::new(
                BIBLIOGRAPHY,
                format!("[{key}] stands there twice: merge the entries"),
            ));
        }
    }
    for file in files.iter().filter(|file| file.is_rust()) {
        for passage in blocks(&file.text).iter().flat_map(passages) {
            for (offset, key) in citations(&passage.text) {
                // As it is written: on one line, and before Markdown turned the apostrophe.
                let key = key.replace('\n', " ").replace('’', "'");
                if !known.contains(&key.as_str()) {
                    problems.push(Problem::at(
                        &file.path,
                        passage.line(offset),
                        format!("[{key}] is not in {BIBLIOGRAPHY}: add `- **[{key}]** …` there, or mend the key"),
                    ));
                }
            }
        }
    }
    problems
}

/// The key of a line `- **[Key]** …`.
fn entry(line: &str) -> Option<&str> {
    line.strip_prefix("- **[")?.split_once("]**").map(|(key, _)| key)
}

/// The keys cited in a text, with their offsets.
fn citations(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (open, _) in text.match_indices('[') {
        let mut at = open + 1;
        let Some(close) = text[at..].find([']', '[']).map(|length| at + length) else { continue };
        while at < close {
            let part = text[at..close].split(';').next().unwrap_or_default();
            let cited = part.trim_start_matches([',', ' ', '\n']);
            let skipped = part.len() - cited.len();
            if let Some(key) = key(cited) {
                found.push((at + skipped, key));
                at += skipped + key.len();
            } else {
                at += part.len() + 1;
            }
        }
    }
    found
}

/// The key that a citation starts with: a few capitals, or everything up to a year after a name.
fn key(citation: &str) -> Option<&str> {
    let word = &citation[..citation.find([',', ' ', '\n']).unwrap_or(citation.len())];
    if (2..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase()) {
        return Some(word);
    }
    if !citation.starts_with(char::is_uppercase) {
        return None;
    }
    let mut end = 0;
    for word in citation.split_inclusive([' ', '\n']) {
        let bare = word.trim_end_matches([' ', '\n', ',']);
        let digits = bare.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) && bare.len() <= 5 {
            return Some(&citation[..end + bare.len()]);
        }
        end += word.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn keys_are_recognised() {
        let cited = |text| citations(text).into_iter().map(|(_, key)| key).collect::<Vec<_>>();
        assert_eq!(
            cited("[KP], eq. (4.2), [TL, §3], [Vouga et al. 2017, eq. (3)]"),
            ["KP", "TL", "Vouga et al. 2017"]
        );
        assert_eq!(
            cited("[Kostreva 1978, Júdice\n& Pires 1994, p. 5; KP, TL]"),
            ["Kostreva 1978", "Júdice\n& Pires 1994", "KP", "TL"]
        );
        assert_eq!(cited("[Lemke 1965; GO, (7); Jean 1999a]"), ["Lemke 1965", "GO", "Jean 1999a"]);
        assert_eq!(cited("a[i], [0, 1], [ω, v], [Self], [x 2017], [`Newton`]"), [""; 0]);
    }

    #[test]
    fn unresolved_keys_fail_with_their_line() {
        let files = [
            file(
                "REFERENCES.md",
                "# References\n- **[KP]** Kaufman and Pai.\n- **[Lemke 1965]** Lemke.\n- **[O'Neill 1983]** O'Neill.\n",
            ),
            file(
                "a.rs",
                "//! After \\[KP\\] and\n//! [Lemke 1965; O'Neill\n//! 1983], not [Lemke 1956].\n",
            ),
        ];
        let problems = check(&files);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "a.rs:3");
    }

    #[test]
    fn repeated_entries_fail() {
        assert_eq!(check(&[file("REFERENCES.md", "- **[KP]** a\n- **[KP]** b\n")]).len(), 1);
    }
}
