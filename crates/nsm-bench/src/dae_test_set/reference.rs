//! Reference solutions of others, read where they are kept beside the project.

use std::path::PathBuf;

use serde_json::Value;

use crate::ScenarioError;

/// Parameters and solution of a problem as its file states them.
#[derive(Clone, Debug)]
pub struct Reference {
    name: &'static str,
    data: Value,
}

impl Reference {
    /// The file of this name, nothing if there is none.
    ///
    /// It is looked for in `../shared/data/dae`, seen from the current folder and from the root of the workspace.
    ///
    /// # Errors
    /// A file that cannot be read or is no JSON.
    pub fn find(name: &'static str) -> Result<Option<Self>, ScenarioError> {
        let Some(file) = places(name).into_iter().find(|file| file.is_file()) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(file)?;
        Ok(Some(Self { name, data: serde_json::from_str(&text)? }))
    }

    /// The numbers under this key.
    ///
    /// # Errors
    /// If they are not there.
    pub fn numbers(&self, key: &str) -> Result<Vec<f64>, ScenarioError> {
        let list = self.data[key].as_array().ok_or_else(|| self.lacks(key))?;
        list.iter().map(|x| x.as_f64().ok_or_else(|| self.lacks(key))).collect()
    }

    /// The parameter with this name.
    ///
    /// # Errors
    /// If it is not there.
    pub fn parameter(&self, name: &str) -> Result<f64, ScenarioError> {
        self.data["params"][name].as_f64().ok_or_else(|| self.lacks(name))
    }

    /// The time at which the solution is known.
    ///
    /// # Errors
    /// If it is not there.
    pub fn end(&self) -> Result<f64, ScenarioError> {
        self.data["t_end"].as_f64().ok_or_else(|| self.lacks("t_end"))
    }

    fn lacks(&self, key: &str) -> ScenarioError {
        format!("{}: no numbers under `{key}`", self.name).into()
    }
}

fn places(name: &str) -> [PathBuf; 2] {
    let data = |root: &str| PathBuf::from(root).join("../shared/data/dae").join(name);
    [data("."), data(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))]
}
