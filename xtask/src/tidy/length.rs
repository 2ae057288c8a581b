//! No source file above 500 lines, unless the table below says why it is one thing.

use super::Problem;
use crate::workspace::TextFile;

const LONGEST: usize = 500;

/// Files that may be longer, each with the reason. An entry that is not needed any more is a problem too.
pub(super) const ALLOWED: &[(&str, &str)] = &[];

pub(super) fn check(files: &[TextFile], allowed: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().count();
        if lines > LONGEST && !allowed.iter().any(|(path, _)| *path == file.path) {
            problems.push(Problem::new(
                &file.path,
                format!(
                    "{lines} lines: split it into modules of one thing each (at most {LONGEST} lines), or give \
                     the reason in ALLOWED in xtask/src/tidy/length.rs"
                ),
            ));
        }
    }
    for (path, reason) in allowed {
        let lines =
            files.iter().find(|file| file.path == *path).map(|file| file.text.lines().count());
        if lines.is_none_or(|lines| lines <= LONGEST) {
            problems.push(Problem::new(
                *path,
                "is allowed to be long but is not: take it off the list",
            ));
        }
        if reason.split_whitespace().count() < 3 {
            problems.push(Problem::new(
                *path,
                "is allowed to be long without a reason: say why it is one thing",
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    const REASON: &str = "one generated table of coefficients";

    #[test]
    fn limit_is_inclusive() {
        assert_eq!(check(&[file("a.rs", &"\n".repeat(500))], &[]), []);
        assert_eq!(check(&[file("a.rs", &"\n".repeat(501))], &[]).len(), 1);
        assert_eq!(check(&[file("a.md", &"\n".repeat(501))], &[]), []);
    }

    #[test]
    fn a_reason_excuses() {
        let files = [file("a.rs", &"\n".repeat(900))];
        assert_eq!(check(&files, &[("a.rs", REASON)]), []);
        assert_eq!(check(&files, &[("a.rs", "long")]).len(), 1);
    }

    #[test]
    fn stale_entries_fail() {
        let files = [file("a.rs", &"\n".repeat(10))];
        assert_eq!(check(&files, &[("a.rs", REASON), ("gone.rs", REASON)]).len(), 2);
    }
}
