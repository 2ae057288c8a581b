//! No unfinished work in the tree: marks in comments, tests switched off, bodies left out.

use super::Problem;
use crate::workspace::TextFile;

/// The marks, pieced together so that this file does not contain them, and what to do instead.
const MARKS: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "do it, or open an issue"),
    (concat!("FIX", "ME"), "mend it, or open an issue"),
    (concat!("XX", "X"), "mend it, or open an issue"),
    (concat!("#[", "ignore"), "make the test fast and run it, or remove it"),
    (concat!("to", "do!("), "write the body, or leave the item out"),
    (concat!("unimple", "mented!("), "write the body, or return a typed error"),
];

pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (number, line) in file.lines() {
            for (mark, instead) in MARKS.iter().filter(|(mark, _)| stands_alone(line, mark)) {
                problems.push(Problem::at(&file.path, number, format!("`{mark}`: {instead}")));
            }
        }
    }
    problems
}

/// Whether `mark` occurs in `line` other than as part of a longer word.
fn stands_alone(line: &str, mark: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_word);
        let after =
            mark.ends_with(is_word) && line[at + mark.len()..].chars().next().is_some_and(is_word);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn every_mark_is_found_with_its_line() {
        for (mark, _) in MARKS {
            let problems = check(&[file("a.rs", &format!("fn a() {{}}\n// {mark} ...\n"))]);
            assert_eq!(problems.len(), 1, "{mark}");
            assert_eq!(problems[0].place, "a.rs:2");
        }
    }

    #[test]
    fn longer_words_and_other_files_pass() {
        assert_eq!(
            check(&[file("a.rs", concat!("let X", "XX_ = 1; // TO", "DOS, my_to", "do!()"))]),
            []
        );
        assert_eq!(check(&[file("a.md", concat!("TO", "DO"))]), []);
    }
}
