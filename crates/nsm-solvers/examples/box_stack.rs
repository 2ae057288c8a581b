//! Frictionless contact of a tower of boxes, given by the contact gradients $G$ and the inverse mass.
//!
//! Twelve boxes rest on each other, four corner contacts per interface: 48 unknown impulses, of which
//! only 36 combinations are determined. One time step of gravity is answered by the impulses
//! $\lambda = \arg\min_{\lambda\ge0} |p + G\lambda|^2_W$.
#![allow(clippy::print_stdout)]

use nsm_solvers::least_squares::{FactoredNnls, Factors, Weight};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let boxes = 12;
    let (a, b, c) = (0.5, 0.4, 0.3);
    let (gravity, step) = (9.81, 0.01);

    // Coordinates of box k: vertical velocity, and rotation about the two horizontal axes.
    let mut start = vec![0];
    let (mut coordinates, mut gradients) = (vec![], vec![]);
    let mut inverse_mass = vec![];
    for k in 0..boxes {
        inverse_mass.extend([1.0, 3.0 / (b * b + c * c), 3.0 / (a * a + c * c)]);
        for (x, y) in [(a, b), (a, -b), (-a, b), (-a, -b)] {
            if k > 0 {
                coordinates.extend([3 * k - 3, 3 * k - 2, 3 * k - 1]);
                gradients.extend([-1.0, -y, x]);
            }
            coordinates.extend([3 * k, 3 * k + 1, 3 * k + 2]);
            gradients.extend([1.0, y, -x]);
            start.push(gradients.len());
        }
    }
    let weight = Weight::Diagonal(&inverse_mass);
    let factors = Factors::new(&start, &coordinates, &gradients, 3 * boxes, weight)?;
    let contacts = factors.contacts();

    let mut momentum = vec![0.0; 3 * boxes];
    for k in 0..boxes {
        momentum[3 * k] = -gravity * step;
    }
    // Someone taps the top box on one side.
    momentum[3 * boxes - 1] = -0.01;
    let mut q = vec![0.0; contacts];
    factors.right_hand_side(&momentum, &mut q)?;

    let mut impulse = vec![0.0; contacts];
    let mut solver = FactoredNnls::new();
    let report = solver.solve(&factors, &q, &mut impulse)?;
    factors.add_impulses(&impulse, &mut momentum)?;

    println!("A tower of {boxes} boxes, {contacts} contacts, of rank {}", 3 * boxes);
    println!(
        "solved by {} in {} iterations, residual {:.1e}, {} contacts active\n",
        report.method, report.iterations, report.residual, report.active
    );
    println!(
        "box   impulses at its four lower corners, in weights x step            sum   vertical velocity after"
    );
    for k in (0..boxes).rev() {
        let corners: Vec<f64> =
            impulse[4 * k..4 * k + 4].iter().map(|l| l / (gravity * step)).collect();
        println!(
            "{:>3}   {:>12.6} {:>12.6} {:>12.6} {:>12.6}   {:>10.6}   {:>12.2e}",
            k + 1,
            corners[0],
            corners[1],
            corners[2],
            corners[3],
            corners.iter().sum::<f64>(),
            momentum[3 * k]
        );
    }
    println!("\nThe lowest interface carries the whole tower: {boxes} weights.");
    Ok(())
}
