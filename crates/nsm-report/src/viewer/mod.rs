//! Animations in pages: scenes as data, and the script that shows them.

use serde_json::json;

use crate::plot::escape;
use crate::scene::Scene;

/// The script that shows every scene of a page.
pub(crate) const SCRIPT: &str = include_str!("viewer.js");

/// What a film shows.
pub const FILM_CAPTION: &str =
    "the first part of each run; drag to turn or move, click and scroll to zoom";

/// Numbers of all films on the page of one problem.
pub const FILM_NUMBERS: usize = 60_000;

/// A figure with the scenes of one or several runs, `numbers` numbers in all or as few as move smoothly; nothing if there is nothing to
/// see.
pub fn figure(scenes: &[(String, Scene)], caption: &str, numbers: usize) -> Option<String> {
    let visible = || scenes.iter().filter(|(_, scene)| !scene.is_empty());
    let each = numbers / visible().count().max(1);
    let list: Vec<_> = visible()
        .map(|(name, scene)| json!({ "name": name, "scene": scene.thinned(each).json() }))
        .collect();
    if list.is_empty() {
        return None;
    }
    // `</script` would end the data, and `<!--<script` would keep them from ending.
    let data = json!(list).to_string().replace('<', "\\u003c");
    let caption = escape(caption);
    Some(format!(
        "<figure class=\"scene\"><script type=\"application/json\">{data}</script><figcaption>{caption}</figcaption></figure>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsm_problem::{Problem, Watch};

    #[test]
    fn names_can_neither_end_their_script_nor_keep_it_from_ending() {
        let text = "[system]\ncoordinates = [\"y\"]\nmass = [1]\n[start]\nq = [0]\nv = [1]\n\
                    [[run]]\nmethod = \"gvi\"\nstep = 0.1\nend = 1.0";
        let problem = Problem::parse(text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let scene = Scene::of(&problem, &result);
        let names = ["</script><b>", "<!--<script>"].map(str::to_owned);
        let scenes = names.clone().map(|name| (name, scene.clone()));
        let html = figure(&scenes, "a < b", 1000).unwrap();
        let (start, end) = ("<script type=\"application/json\">", "</script>");
        let (_, rest) = html.split_once(start).unwrap();
        let (data, after) = rest.split_once(end).unwrap();
        // Nothing in the data looks like markup, and they still read as they were.
        assert!(!data.contains('<') && !after.contains("script"), "{html}");
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!([&read[0]["name"], &read[1]["name"]], [&names[0], &names[1]]);
        assert!(html.contains("a &lt; b"));
        assert!(figure(&[("empty".into(), Scene::default())], "", 1000).is_none());
    }
}
