//! Doc comments as a reader of the pages sees them: the comment's lines without their marks, run through
//! Markdown with rustdoc's extensions, cut into passages of running text. What Markdown changed on the way
//! (emphasis, a backslash taken away, a quote turned) is kept beside the text, because a formula must not
//! contain any of it.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A run of doc comment lines.
pub(super) struct DocBlock {
    first_line: usize,
    text: String,
}

/// The doc comments of a source file, in order.
pub(super) fn blocks(source: &str) -> Vec<DocBlock> {
    let mut blocks = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut mark = "";
    for (number, line) in source.lines().chain([""]).enumerate() {
        let found = doc_line(line);
        let continues = found.is_some_and(|(m, _)| m == mark);
        if !continues && !run.is_empty() {
            blocks.push(DocBlock { first_line: number + 1 - run.len(), text: unindent(&run) });
            run.clear();
        }
        if let Some((m, text)) = found {
            mark = m;
            run.push(text);
        }
    }
    blocks
}

/// The kind and the text of a doc comment line. Four slashes are an ordinary comment.
fn doc_line(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    let inner = line.strip_prefix("//!").map(|text| ("//!", text));
    inner.or_else(|| {
        line.strip_prefix("///").filter(|text| !text.starts_with('/')).map(|text| ("///", text))
    })
}

/// Takes away the indentation that all lines share, as rustdoc does.
fn unindent(lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let shared = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|line| line.get(shared..).unwrap_or("")).collect();
    cut.join("\n")
}

/// What Markdown did to the text at one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The text stops here for something else: emphasis, code, a link, a break.
    Cut(&'static str),
    /// A backslash stood before this character.
    Unescaped,
    /// Other characters stood here.
    Replaced(String),
}

/// The running text of one paragraph, heading, list item or table cell.
#[derive(Default)]
pub(super) struct Passage {
    /// As shown; a cut leaves U+FFFC.
    pub(super) text: String,
    /// By offset into `text`.
    pub(super) changes: Vec<(usize, Change)>,
    /// (offset into `text`, line in the file) of each piece.
    lines: Vec<(usize, usize)>,
}

impl Passage {
    /// The line in the file of an offset into the text.
    pub(super) fn line(&self, offset: usize) -> usize {
        let piece = self.lines.partition_point(|&(start, _)| start <= offset);
        let (start, line) = self.lines[piece.saturating_sub(1)];
        line + self.text[start..offset].matches('\n').count()
    }
}

/// The passages of a doc comment. Code blocks are none.
pub(super) fn passages(block: &DocBlock) -> Vec<Passage> {
    // What rustdoc turns on for the body of a page.
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_SMART_PUNCTUATION;
    let source = block.text.as_str();
    let line_of = |offset: usize| block.first_line + source[..offset].matches('\n').count();
    let mut passages = Vec::new();
    let mut passage = Passage::default();
    let mut in_code = false;
    let mut read_to = 0;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        let at = passage.text.len();
        match event {
            Event::Text(_) if in_code => {}
            Event::Text(shown) => {
                let written = &source[range.clone()];
                if range.start > read_to && source[..range.start].ends_with('\\') {
                    passage.changes.push((at, Change::Unescaped));
                } else if *shown != *written {
                    passage.changes.push((at, Change::Replaced(written.to_owned())));
                }
                passage.lines.push((at, line_of(range.start)));
                passage.text.push_str(&shown);
                read_to = range.end;
            }
            Event::SoftBreak => {
                passage.lines.push((at, line_of(range.start)));
                passage.text.push('\n');
            }
            event => {
                in_code = match event {
                    Event::Start(Tag::CodeBlock(_)) => true,
                    Event::End(TagEnd::CodeBlock) => false,
                    _ => in_code,
                };
                if let Some(what) = cut(&event) {
                    passage.changes.push((at, Change::Cut(what)));
                    passage.lines.push((at, line_of(range.start)));
                    passage.text.push('\u{fffc}');
                } else if !passage.text.is_empty() {
                    passages.push(std::mem::take(&mut passage));
                }
            }
        }
    }
    passages
}

/// The name of an event inside a passage; `None` for one that ends the passage.
fn cut(event: &Event<'_>) -> Option<&'static str> {
    match event {
        Event::Start(Tag::Emphasis | Tag::Strong)
        | Event::End(TagEnd::Emphasis | TagEnd::Strong) => Some("emphasis"),
        Event::Start(Tag::Strikethrough) | Event::End(TagEnd::Strikethrough) => {
            Some("struck-out text")
        }
        Event::Start(Tag::Link { .. } | Tag::Image { .. })
        | Event::End(TagEnd::Link | TagEnd::Image) => Some("a link"),
        Event::Code(_) => Some("code"),
        Event::InlineHtml(_) => Some("HTML"),
        Event::FootnoteReference(_) => Some("a footnote"),
        Event::HardBreak => Some("a line break"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<(String, Vec<(usize, Change)>)> {
        let of = |block| passages(&block).into_iter().map(|p| (p.text, p.changes));
        blocks(source).into_iter().flat_map(of).collect()
    }

    #[test]
    fn comments_become_passages_with_lines() {
        let source = "//! One\n//! two.\n//!\n//! Three.\nfn a() {}\n    /// Four.\n    //// no\n";
        let found: Vec<(String, usize)> = blocks(source)
            .iter()
            .flat_map(passages)
            .map(|p| (p.text.clone(), p.line(p.text.len() - 1)))
            .collect();
        assert_eq!(found, [("One\ntwo.".into(), 2), ("Three.".into(), 4), ("Four.".into(), 6)]);
    }

    #[test]
    fn code_is_left_out() {
        let source = "/// Before.\n/// ```\n/// let a = \"$x\";\n/// ```\n/// After `$y`.\n";
        let texts: Vec<String> = shown(source).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["Before.", "After \u{fffc}."]);
    }

    #[test]
    fn changes_are_kept() {
        let [(text, changes)] = &shown("/// a *b* c\\, d' e\n")[..] else { panic!("one passage") };
        assert_eq!(text, "a \u{fffc}b\u{fffc} c, d’ e");
        let kinds: Vec<&Change> = changes.iter().map(|(_, change)| change).collect();
        assert_eq!(
            kinds,
            [
                &Change::Cut("emphasis"),
                &Change::Cut("emphasis"),
                &Change::Unescaped,
                &Change::Replaced("'".into())
            ]
        );
    }
}
