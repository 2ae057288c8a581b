//! A robot as a mechanism, without a problem about it.

use std::path::Path;

use nsm_constraints::multibody::Mechanism;
use nsm_problem::{Problem, Subject};

use super::{ImportError, Options, fail, import};

/// What can be made of a robot.
pub trait FromUrdf: Sized {
    /// Makes it of a URDF text; meshes are looked for beside `folder`.
    ///
    /// # Errors
    /// Those of [`import`].
    fn from_urdf(text: &str, folder: &Path, options: &Options) -> Result<Self, ImportError>;
}

/// ```
/// use nsm::constraints::multibody::Mechanism;
/// use nsm::urdf::{FromUrdf, Options};
///
/// let text = r#"<robot name="lever"><link name="world"/>
///     <link name="bar"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
///     <joint name="hinge" type="continuous"><parent link="world"/><child link="bar"/></joint></robot>"#;
/// let lever = Mechanism::from_urdf(text, ".".as_ref(), &Options::default())?;
/// assert_eq!(lever.joints().count(), 1);
/// # Ok::<(), nsm::urdf::ImportError>(())
/// ```
impl FromUrdf for Mechanism {
    fn from_urdf(text: &str, folder: &Path, options: &Options) -> Result<Self, ImportError> {
        let imported = import(text, folder, options)?;
        match Problem::parse(&imported.problem).map(|problem| problem.subject) {
            Ok(Subject::Mechanism { mechanism, .. }) => Ok(*mechanism),
            Ok(_) => fail("the robot has no joints: its links are free bodies, and no mechanism"),
            Err(error) => fail(error.to_string()),
        }
    }
}
