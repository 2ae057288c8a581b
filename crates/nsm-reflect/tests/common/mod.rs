//! Impacts shared by the tests: contact rows as plain data with the mass they act on.
#![allow(dead_code, unreachable_pub)]

use nsm_reflect::{
    Certificate, ContactRows, ContactTolerance, ImpactLaw, Kernel, Metric, ReflectError,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Contact rows that own their data.
#[derive(Clone, Debug)]
pub struct Scene {
    pub metric: Metric,
    pub starts: Vec<usize>,
    pub columns: Vec<usize>,
    pub values: Vec<f64>,
}

impl Scene {
    pub fn new(inverse_mass: &[f64]) -> Self {
        Self::in_metric(Metric::diagonal(inverse_mass).unwrap())
    }

    pub fn in_metric(metric: Metric) -> Self {
        Self { metric, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    pub fn push(&mut self, row: &[(usize, f64)]) {
        self.columns.extend(row.iter().map(|e| e.0));
        self.values.extend(row.iter().map(|e| e.1));
        self.starts.push(self.columns.len());
    }

    pub fn rows(&self) -> ContactRows<'_> {
        let n = self.metric.dimension();
        ContactRows::new(n, &self.starts, &self.columns, &self.values).unwrap()
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn kernel(&self) -> Kernel {
        Kernel::new(self.metric.dimension(), self.len(), ContactTolerance::default())
    }

    /// All contacts as candidates; certificate and impulses.
    pub fn reflect(
        &self,
        law: &ImpactLaw,
        p: &mut [f64],
    ) -> Result<(Certificate, Vec<f64>), ReflectError> {
        let all: Vec<usize> = (0..self.len()).collect();
        let mut kernel = self.kernel();
        let certificate = kernel.reflect(law, &self.metric, self.rows(), &all, p)?;
        Ok((certificate, kernel.impulses().to_vec()))
    }

    pub fn energy(&self, p: &[f64]) -> f64 {
        let mut v = vec![0.0; p.len()];
        self.metric.apply(p, &mut v);
        0.5 * p.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>()
    }

    pub fn rates(&self, p: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; p.len()];
        self.metric.apply(p, &mut v);
        (0..self.len())
            .map(|i| {
                let (columns, values) = self.rows().row(i);
                columns.iter().zip(values).map(|(&c, g)| g * v[c]).sum()
            })
            .collect()
    }

    /// $G\lambda$.
    pub fn force(&self, lambda: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; self.metric.dimension()];
        for (i, l) in lambda.iter().enumerate() {
            let (columns, values) = self.rows().row(i);
            for (&c, g) in columns.iter().zip(values) {
                force[c] += l * g;
            }
        }
        force
    }
}

/// A row of balls on a line that touch their neighbours.
pub fn line(inverse_mass: &[f64]) -> Scene {
    let mut scene = Scene::new(inverse_mass);
    for i in 1..inverse_mass.len() {
        scene.push(&[(i - 1, -1.0), (i, 1.0)]);
    }
    scene
}

/// Equal discs in the plane at the given centres; those that touch are in contact.
pub fn discs(centres: &[[f64; 2]], diameter: f64) -> Scene {
    let mut scene = Scene::new(&vec![1.0; 2 * centres.len()]);
    for i in 0..centres.len() {
        for j in i + 1..centres.len() {
            let (x, y) = (centres[j][0] - centres[i][0], centres[j][1] - centres[i][1]);
            let distance = x.hypot(y);
            if distance < diameter * (1.0 + 1e-9) {
                let (x, y) = (x / distance, y / distance);
                scene.push(&[(2 * i, -x), (2 * i + 1, -y), (2 * j, x), (2 * j + 1, y)]);
            }
        }
    }
    scene
}

/// Contacts with normal random gradients on random masses: a cone that has an interior.
pub fn cone(rng: &mut Pcg64, n: usize, contacts: usize) -> Scene {
    let mut scene = Scene::new(&(0..n).map(|_| rng.random_range(0.5..2.0)).collect::<Vec<f64>>());
    // All normals on one side of a random plane, so that some direction separates all contacts.
    let axis = normal(rng, n);
    for _ in 0..contacts {
        let mut row = normal(rng, n);
        let side: f64 = row.iter().zip(&axis).map(|(a, b)| a * b).sum();
        if side < 0.0 {
            for x in &mut row {
                *x = -*x;
            }
        }
        scene.push(&row.into_iter().enumerate().collect::<Vec<_>>());
    }
    scene
}

pub fn normal(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n)
        .map(|_| {
            let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        })
        .collect()
}

pub fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}
