//! The body of Case III: the paper's centroid and inertia beside the true ones.

use nsm_geom::Vec3;

use super::cases::union_of_ellipsoids;
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "tran-leok/centroid-iii",
            "Table 1",
            "Shifted by c = (−0.9937128, 0, 0) the union of the ellipsoids has its centroid at the origin.",
            Status::Erratum,
            centroid,
        )
        .noting("The ellipsoids overlap; the centroid of their union asks for a shift of −0.9741762. The inertia of Table 1 is right for unit mass, but about the wrong point. Its off-diagonal entries are antisymmetric; their symmetric part is zero."),
    ]
}

fn centroid(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    let union = union_of_ellipsoids(Vec3::zeros())?.mass_properties(1.0)?;
    found.check("volume", union.mass, Expected::Near(272.600_64, 1e-4));
    found.check("centroid x", union.centre.x, Expected::Near(0.974_176_2, 2e-7));
    found.check("centroid y", union.centre.y, Expected::Near(0.0, 1e-9));
    let inertia = union.with_mass(1.0)?.inertia;
    for (name, value, want) in [
        ("J₁/m", inertia.m11, 7.593_272_0),
        ("J₂/m", inertia.m22, 9.932_277_7),
        ("J₃/m", inertia.m33, 8.272_759_6),
    ] {
        found.check(name, value, Expected::Near(want, 1e-6));
    }
    let about = union.inertia_about(&Vec3::new(0.993_712_8, 0.0, 0.0)) / union.mass;
    found.check("J₂/m about the paper's point", about.m22, Expected::Near(9.932_643_4, 2e-5));
    Ok(found)
}
