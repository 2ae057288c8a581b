//! Writes a value of a file as text again, so that a run can be made anew with another step.

use std::fmt::Write;

use toml::de::DeValue;

/// `key = value` on one line.
pub(crate) fn entry(key: &str, value: &DeValue<'_>) -> String {
    format!("{} = {}", quoted(key), inline(value))
}

/// A value on one line.
pub(crate) fn inline(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(list) => {
            let entries: Vec<String> = list.iter().map(|v| inline(v.get_ref())).collect();
            format!("[{}]", entries.join(", "))
        }
        DeValue::Table(table) => {
            let entries: Vec<String> =
                table.iter().map(|(k, v)| entry(k.get_ref(), v.get_ref())).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::entry;

    #[test]
    fn what_is_written_again_reads_the_same() {
        let text = "a = 0x10\nb = \"x\\n\\\"y\\\"\"\nc = [[1, 2.5e-3], [3, 4]]\n[d]\ne = true\nf.g = 1_000";
        let rewrite = |text: &str| -> String {
            let table = DeTable::parse(text).unwrap();
            table.get_ref().iter().map(|(k, v)| entry(k.get_ref(), v.get_ref()) + "\n").collect()
        };
        let once = rewrite(text);
        let expected = [
            r#""a" = 0x10"#,
            r#""b" = "x\u000A\"y\"""#,
            r#""c" = [[1, 2.5e-3], [3, 4]]"#,
            r#""d" = { "e" = true, "f" = { "g" = 1000 } }"#,
        ];
        assert_eq!(once.lines().collect::<Vec<_>>(), expected);
        assert_eq!(rewrite(&once), once);
    }
}
