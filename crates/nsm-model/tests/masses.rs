//! Mass matrices: however they are given, products, solves and energies are those of the full matrix.

use nsm_model::{Mass, SystemError};

/// Consistent mass of linear elements in a row, each $m_e/6$ times 2 on the diagonal and 1 beside it, `stride` coordinates apart.
fn beam(elements: usize, first: usize, stride: usize) -> Vec<(usize, usize, f64)> {
    let mut entries = Vec::new();
    for e in 0..elements {
        let ends = [first + e * stride, first + (e + 1) * stride];
        for (a, i) in ends.iter().enumerate() {
            for (b, j) in ends.iter().enumerate() {
                let share = if a == b { 2.0 } else { 1.0 };
                entries.push((*i, *j, share * (1.0 + 0.01 * e as f64) / 6.0));
            }
        }
    }
    entries
}

fn full(n: usize, entries: &[(usize, usize, f64)]) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; n]; n];
    for &(i, j, m) in entries {
        rows[i][j] += m;
    }
    rows
}

/// Spread over (-1, 1), the same at every run.
fn spread(n: usize) -> Vec<f64> {
    (0..n).map(|i| 2.0 * (0.618_033_988_749_894_9 * (i as f64 + 1.0)).fract() - 1.0).collect()
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance, "{i}: {a} against {b}");
    }
}

#[test]
fn solving_undoes_multiplying() {
    let m = Mass::blocks(&[
        vec![vec![2.0]],
        vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -0.25], vec![0.5, -0.25, 1.0]],
    ])
    .unwrap();
    let v = [1.0, -2.0, 0.5, 3.0];
    let (mut p, mut back) = ([0.0; 4], [0.0; 4]);
    m.multiply(&v, &mut p);
    m.solve(&p, &mut back);
    assert_close(&v, &back, 1e-15);
    let energy = 0.5 * v.iter().zip(p).map(|(a, b)| a * b).sum::<f64>();
    assert!((m.kinetic_energy(&v) - energy).abs() < 1e-14);
    assert!((m.inverse_entry(1, 3) - m.inverse_entry(3, 1)).abs() == 0.0);
    assert_eq!(m.inverse_entry(0, 1), 0.0);
}

#[test]
fn a_band_is_the_full_matrix() {
    // Three interleaved beams, so that components are strided; coordinate 150 has no mass, 151 has.
    let n = 152;
    let mut entries = beam(49, 0, 3);
    entries.extend(beam(49, 1, 3));
    entries.extend(beam(49, 2, 3));
    entries.push((151, 151, 4.0));
    let mass = Mass::sparse(n, &entries).unwrap();
    assert!(mass.is_banded());
    assert_eq!(mass.massless(), [150]);
    let rows = full(n, &entries);
    let v = spread(n);
    let expected: Vec<f64> =
        rows.iter().map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
    let (mut p, mut back) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    mass.multiply(&v, &mut p);
    assert_close(&p, &expected, 1e-15);
    let energy = 0.5 * v.iter().zip(&expected).map(|(a, b)| a * b).sum::<f64>();
    assert!((mass.kinetic_energy(&v) - energy).abs() < 1e-13);
    mass.solve(&p, &mut back);
    assert_eq!(back[150], 0.0);
    back[150] = v[150];
    assert_close(&back, &v, 1e-14);
    // Entries are those given, with duplicates added up; the inverse multiplies to the projector.
    let again = Mass::sparse(n, &mass.entries()).unwrap();
    assert_eq!(again.entries(), mass.entries());
    let mut dense = vec![vec![0.0; n]; n];
    for (i, j, x) in mass.inverse_entries() {
        dense[i][j] = x;
        assert_eq!(mass.inverse_entry(j, i), x);
    }
    for (i, row) in dense.iter().enumerate() {
        let image: Vec<f64> =
            (0..n).map(|j| row.iter().zip(&rows).map(|(a, r)| a * r[j]).sum()).collect();
        let unit: Vec<f64> = (0..n).map(|j| if i == j && i != 150 { 1.0 } else { 0.0 }).collect();
        assert_close(&image, &unit, 1e-13);
    }
    let (a, b) = (
        ([0, 4, 9].as_slice(), [1.0, -2.0, 0.5].as_slice()),
        ([3, 151].as_slice(), [2.0, 1.0].as_slice()),
    );
    let product = 2.0 * dense[0][3] - 4.0 * dense[4][3] + dense[9][3];
    assert!((mass.inverse_product(a, b) - product).abs() < 1e-13);
    let metric = mass.inverse_metric().unwrap();
    let mut velocity = vec![0.0; n];
    metric.apply(&p, &mut velocity);
    velocity[150] = v[150];
    assert_close(&velocity, &v, 1e-13);
}

#[test]
fn a_full_matrix_falls_into_its_blocks() {
    let mut entries = beam(1, 0, 2);
    entries.extend(beam(1, 1, 2));
    let rows = full(4, &entries);
    let (given, split) = (Mass::full(&rows).unwrap(), Mass::sparse(4, &entries).unwrap());
    assert_eq!(given.entries(), split.entries());
    assert_eq!(given.entries().len(), 8);
    assert_eq!(given.inverse_entry(0, 1), 0.0);
    let diagonal = Mass::full(&[vec![2.0, 0.0], vec![0.0, 3.0]]).unwrap();
    assert_eq!(diagonal.as_diagonal(), Some([2.0, 3.0].as_slice()));
}

#[test]
fn a_coordinate_without_mass_is_listed_and_answers_zero() {
    let m = Mass::full(&[vec![2.0, 0.0, 1.0], vec![0.0, 0.0, 0.0], vec![1.0, 0.0, 2.0]]).unwrap();
    assert_eq!(m.massless(), [1]);
    let mut v = [f64::NAN; 3];
    m.solve(&[3.0, 5.0, 3.0], &mut v);
    assert!((v[0] - 1.0).abs() < 1e-15 && v[1] == 0.0 && (v[2] - 1.0).abs() < 1e-15);
}

#[test]
fn a_direction_without_mass_has_the_pseudo_inverse() {
    // A rod: its inertia about the axis (1, 2, 2)/3 is missing.
    let axis = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    let rows: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..3).map(|j| f64::from(u8::from(i == j)) - axis[i] * axis[j]).collect())
        .collect();
    let rod = Mass::full(&rows).unwrap();
    assert_eq!(rod.massless().len(), 1);
    // A projector is its own pseudo-inverse.
    let mut v = [0.0; 3];
    rod.solve(&[3.0, 0.0, 0.0], &mut v);
    assert_close(&v, &[3.0 - 1.0 / 3.0, -2.0 / 3.0, -2.0 / 3.0], 1e-14);
    assert!(rod.kinetic_energy(&axis).abs() < 1e-16);
}

#[test]
fn bad_masses_name_their_coordinate() {
    assert!(matches!(Mass::diagonal(&[1.0, -2.0]), Err(SystemError::Mass { coordinate: 1, .. })));
    assert!(matches!(Mass::diagonal(&[f64::NAN]), Err(SystemError::Mass { coordinate: 0, .. })));
    assert!(matches!(Mass::diagonal(&[]), Err(SystemError::Empty)));
    assert!(matches!(Mass::sparse(0, &[]), Err(SystemError::Empty)));
    assert!(matches!(Mass::blocks(&[vec![], vec![vec![1.0]]]), Err(SystemError::Empty)));
    let indefinite = Mass::blocks(&[vec![vec![1.0]], vec![vec![1.0, 2.0], vec![2.0, 1.0]]]);
    assert!(matches!(indefinite, Err(SystemError::IndefiniteMass { coordinate: 2 })));
    let skew = Mass::full(&[vec![1.0, 0.5], vec![0.0, 1.0]]);
    assert!(matches!(skew, Err(SystemError::AsymmetricMass { row: 1, column: 0, .. })));
    assert!(matches!(Mass::full(&[vec![1.0, 0.0]]), Err(SystemError::Length { .. })));
    let infinite = Mass::sparse(3, &[(0, 0, 1.0), (2, 2, f64::INFINITY)]);
    assert!(matches!(infinite, Err(SystemError::Mass { coordinate: 2, .. })));
    assert!(matches!(Mass::sparse(2, &[(0, 2, 1.0)]), Err(SystemError::Constraint(_))));
    // Nothing on the diagonal, and a coupling: a hyperbola, however small the pivots look.
    let hidden = Mass::sparse(2, &[(0, 1, 1.0), (1, 0, 1.0)]);
    assert!(matches!(hidden, Err(SystemError::IndefiniteMass { .. })));
    let negative = Mass::sparse(2, &[(1, 1, -1.0)]);
    assert!(matches!(negative, Err(SystemError::Mass { coordinate: 1, .. })));
}

#[test]
fn an_indefinite_band_names_its_coordinate() {
    for elements in [40, 400] {
        let mut entries = beam(elements, 0, 1);
        entries.push((17, 17, -1.0));
        match Mass::sparse(elements + 1, &entries) {
            // The row itself, or a neighbour that it is eliminated with.
            Err(SystemError::IndefiniteMass { coordinate }) => {
                assert!((15..=19).contains(&coordinate), "{coordinate}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_large_mass_is_linear_in_its_size() {
    // A full inverse of this would need 80 GB.
    let n = 100_001;
    let mass = Mass::sparse(n, &beam(n - 1, 0, 1)).unwrap();
    let v = spread(n);
    let (mut p, mut back) = (vec![0.0; n], vec![0.0; n]);
    mass.multiply(&v, &mut p);
    mass.solve(&p, &mut back);
    assert_close(&back, &v, 1e-13);
    assert!(matches!(mass.inverse_metric(), Err(SystemError::DoesNotFit { .. })));
}
