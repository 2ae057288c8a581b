//! Nothing in the tree belongs to one machine: no absolute path of a developer's, and no package from
//! anywhere but crates.io.

use super::Problem;
use crate::workspace::TextFile;

/// Where people and build machines keep their files, pieced together so that this file passes.
const ROOTS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        for (number, line) in file.lines() {
            if let Some(root) = ROOTS.iter().find(|root| names_path(line, root)) {
                problems.push(Problem::at(
                    &file.path,
                    number,
                    format!("an absolute path below `{root}`: make it relative to the workspace or to CARGO_MANIFEST_DIR"),
                ));
            }
            if file.path == "Cargo.lock"
                && line.starts_with("source = ")
                && !line.contains(CRATES_IO)
            {
                problems.push(Problem::at(
                    &file.path,
                    number,
                    "a package from elsewhere than crates.io: generate the lock file without source replacement",
                ));
            }
        }
    }
    problems
}

/// Whether `root` starts a path in `line`; inside an address or a longer path it does not.
fn names_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "._-/~}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn machine_paths_fail() {
        for root in ROOTS {
            let problems = check(&[file("a.toml", &format!("\ndata = \"{root}someone/data\"\n"))]);
            assert_eq!(problems.len(), 1);
            assert_eq!(problems[0].place, "a.toml:2");
        }
    }

    #[test]
    fn addresses_and_relative_paths_pass() {
        for root in ROOTS {
            let text = format!("https://example.org{root}a ..{root}b\n");
            assert_eq!(check(&[file("a.md", &text)]), []);
        }
    }

    #[test]
    fn lock_file_names_crates_io_only() {
        let lock =
            |source: &str| file("Cargo.lock", &format!("[[package]]\nsource = \"{source}\"\n"));
        assert_eq!(check(&[lock(CRATES_IO)]), []);
        assert_eq!(check(&[lock("registry+https://mirror.example/index")]).len(), 1);
    }
}
