//! Signed distance of a solid built from simple ones: a rounded box with a spherical pocket and a drilled hole.
//!
//! Prints a slice through the solid, one character per point, and a few values with their gradients; on the
//! ridges, where no nearest surface point is unique, there is no gradient.

#![allow(clippy::print_stdout)]

use nsm_geom::{Csg, GeomError, Pose, Shape, Vec3, so3};

fn main() -> Result<(), GeomError> {
    let block = Csg::body(Shape::cuboid([1.3, 0.6, 0.7])?.rounded(0.1)?);
    let pocket = Csg::body(Shape::sphere(0.6)?.at(Vec3::new(0.5, 0.0, 0.9)));
    let across = so3::exp(&Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0));
    let hole = Csg::body(
        Shape::cylinder(2.0, 0.25)?.placed(Pose { x: Vec3::new(-0.8, 0.0, 0.1), rot: across }),
    );
    let part = block.difference(pocket).difference(hole);

    println!(
        "slice y = 0; # inside, * within 0.08 of the surface, digits: tenths of distance outside"
    );
    for row in 0..=22 {
        let z = 1.1 - 0.1 * f64::from(row);
        let line: String = (0..=70)
            .map(|column| {
                let x = -1.75 + 0.05 * f64::from(column);
                glyph(part.signed_distance(&Vec3::new(x, 0.0, z)).value)
            })
            .collect();
        println!("{line}");
    }

    println!();
    println!("{:>6} {:>6} {:>6} {:>10}   gradient", "x", "y", "z", "distance");
    for z in [[0.0, 0.0, 0.0], [0.5, 0.0, 0.2], [-0.8, 0.0, 0.1], [1.5, 0.2, 0.1], [2.0, 1.0, 1.0]]
    {
        let psi = part.signed_distance(&Vec3::from(z));
        let gradient = match psi.gradient {
            // Adding zero turns −0 into 0.
            Some(g) => format!("({:>7.4}, {:>7.4}, {:>7.4})", g.x + 0.0, g.y + 0.0, g.z + 0.0),
            None => "none: nearest point not unique".into(),
        };
        println!("{:>6.2} {:>6.2} {:>6.2} {:>10.6}   {gradient}", z[0], z[1], z[2], psi.value);
    }
    Ok(())
}

fn glyph(distance: f64) -> char {
    if distance.abs() < 0.08 {
        '*'
    } else if distance < 0.0 {
        '#'
    } else {
        let tenths = (1..10).take_while(|k| 0.1 * f64::from(*k) < distance).last().unwrap_or(0);
        char::from_digit(tenths, 10).unwrap_or(' ')
    }
}
