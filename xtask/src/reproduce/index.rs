//! The index of experiments, `benchmarks/README.md`: which figure or table of which paper each of them belongs to.

use nsm_problem::Status;

use super::entry::Entry;

/// A paper, or a subject beyond the papers.
pub(crate) struct Chapter {
    pub(crate) title: String,
    /// Whether it is a paper.
    pub(crate) is_paper: bool,
    pub(crate) lines: Vec<Line>,
}

/// One figure, table or section, with the experiments that examine it.
pub(crate) struct Line {
    pub(crate) place: String,
    /// Indices of entries.
    pub(crate) entries: Vec<usize>,
}

/// How often something was found, by its word.
pub(crate) type Counts = Vec<(&'static str, usize)>;

/// Puts the entries in the order of the papers, then the subjects beyond them; what the index does not name comes last. Claims beyond the
/// papers reproduce nothing, and are named so.
pub(crate) fn chapters(index: &str, entries: &mut [Entry]) -> Vec<Chapter> {
    let mut chapters = Vec::new();
    let mut placed = vec![false; entries.len()];
    for section in index.split("\n## ").skip(1) {
        let (title, text) = section.split_once('\n').unwrap_or((section, ""));
        let mut chapter = Chapter {
            title: title.trim().to_owned(),
            is_paper: text.contains("| in the paper |"),
            lines: Vec::new(),
        };
        for row in text.lines().filter(|l| l.starts_with('|')) {
            let Some((place, rest)) = row[1..].split_once('|') else { continue };
            let mut line = Line { place: place.trim().to_owned(), entries: Vec::new() };
            for name in names(rest) {
                let found = entries.iter().position(|e| e.id == name);
                if let Some(i) = found.filter(|&i| !std::mem::replace(&mut placed[i], true)) {
                    line.entries.push(i);
                }
            }
            if !line.entries.is_empty() {
                chapter.lines.push(line);
            }
        }
        if !chapter.lines.is_empty() {
            chapters.push(chapter);
        }
    }
    chapters.sort_by_key(|chapter| !chapter.is_paper);
    let rest = (0..entries.len()).filter(|&i| !placed[i]);
    let lines: Vec<Line> =
        rest.map(|i| Line { place: entries[i].id.clone(), entries: vec![i] }).collect();
    if !lines.is_empty() {
        chapters.push(Chapter { title: "Other experiments".to_owned(), is_paper: false, lines });
    }
    for line in chapters.iter().filter(|c| !c.is_paper).flat_map(|c| &c.lines) {
        for &i in &line.entries {
            entries[i].claims.iter_mut().for_each(|c| c.status = Status::Beyond);
        }
    }
    chapters
}

/// Files that a row links and scenarios that it names.
fn names(row: &str) -> impl Iterator<Item = &str> {
    let links = row.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.chain(row.split('`').skip(1).step_by(2))
}

/// Sums counts by their words, in the order of [`Status::ALL`], what failed first.
pub(crate) fn sum<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Counts {
    let words = ["FAILED"].into_iter().chain(Status::ALL.map(Status::word)).chain(["skipped"]);
    let mut counts: Counts = words.map(|word| (word, 0)).collect();
    for entry in entries {
        for (word, n) in entry.counts() {
            counts.iter_mut().filter(|(w, _)| *w == word).for_each(|(_, sum)| *sum += n);
        }
    }
    counts.retain(|(_, n)| *n > 0);
    counts
}

/// Counts in words: `3 reproduced, 1 differs`.
pub(crate) fn in_words(counts: &Counts) -> String {
    counts.iter().map(|(word, n)| format!("{n} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use nsm_bench::{Effort, Findings, Scenario};

    use super::*;
    use crate::reproduce::entry::Source;

    #[test]
    fn experiments_stand_where_the_index_puts_them_and_none_is_lost() {
        let index = "# Experiments\n\n## Contact\n\n| experiment | file |\n|---|---|\n| box | [box](contact/box.toml), `a/c` |\n\
                     \n## A paper\n\n| in the paper | files | in code |\n|---|---|---|\n| figure 2 | | `a/b` |\n| figure 3 | | `a/b` |\n";
        let made = |id: &str| {
            let passes = |_| {
                let mut findings = Findings::default();
                findings.check("one", 1.0, nsm_bench::Expected::Near(1.0, 0.0));
                Ok(findings)
            };
            Source::Code(Scenario::new(id, "", "", Status::Reproduced, passes)).run(Effort::Quick)
        };
        let mut entries = vec![made("a/b"), made("a/c"), made("other")];
        let chapters = chapters(index, &mut entries);
        let titles: Vec<&str> = chapters.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles, ["A paper", "Contact", "Other experiments"]);
        assert_eq!(chapters[0].lines.len(), 1);
        assert_eq!(chapters[0].lines[0].place, "figure 2");
        assert_eq!(in_words(&sum(&entries)), "1 reproduced, 2 beyond");
    }
}
