//! Block-sparse matrices between contacts: $W = J M^{-1} J^\top$ with a $3 \times 3$ block for every pair that shares a body.

/// Three rows of $G = J M^{-1/2}$ that belong to one body: its index, and a $3 \times 6$ block, row-major.
pub type BodyRows = (usize, [f64; 18]);

/// A matrix of $3 \times 3$ blocks, row by row; the storage is kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    starts: Vec<usize>,
    columns: Vec<usize>,
    blocks: Vec<[f64; 9]>,
    /// Where the diagonal block of each row lies.
    diagonal: Vec<usize>,
    /// Rows of the factor $G$ of each contact, where they are known.
    factors: Vec<[Option<BodyRows>; 2]>,
}

impl Delassus {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.blocks.clear();
        self.diagonal.clear();
        self.factors.clear();
    }

    /// Tells the factors of $W = GG^\top$ of the next contact, one block for each of its bodies. Where all contacts have them and bodies are
    /// fewer than contacts, Newton's method solves for bodies.
    pub fn push_factors(&mut self, factors: [Option<BodyRows>; 2]) {
        self.factors.push(factors);
    }

    /// The factors of all contacts; empty where they are not known.
    pub(super) fn factors(&self) -> &[[Option<BodyRows>; 2]] {
        if self.factors.len() == self.len() { &self.factors } else { &[] }
    }

    /// Appends a block to the row in hand; columns ascend, and the diagonal block is among them.
    pub fn push(&mut self, column: usize, block: [f64; 9]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        if column + 1 == self.starts.len() {
            self.diagonal.push(self.columns.len());
        }
        self.columns.push(column);
        self.blocks.push(block);
    }

    /// Ends the row in hand.
    pub fn end_row(&mut self) {
        if self.diagonal.len() < self.starts.len() {
            let row = self.starts.len() - 1;
            self.push(row, [0.0; 9]);
        }
        self.starts.push(self.columns.len());
    }

    /// Takes a full matrix, row-major, $3n \times 3n$; blocks of zeros are left out.
    pub fn set_full(&mut self, n: usize, w: &[f64]) {
        self.clear();
        let m = 3 * n;
        for i in 0..n {
            for j in 0..n {
                let block: [f64; 9] =
                    std::array::from_fn(|k| w[(3 * i + k / 3) * m + 3 * j + k % 3]);
                if i == j || block.iter().any(|x| *x != 0.0) {
                    self.push(j, block);
                }
            }
            self.end_row();
        }
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns and blocks of row `i`.
    pub fn row(&self, i: usize) -> (&[usize], &[[f64; 9]]) {
        let span = self.starts[i]..self.starts[i + 1];
        (&self.columns[span.clone()], &self.blocks[span])
    }

    /// The block of a contact with itself.
    pub fn own(&self, i: usize) -> &[f64; 9] {
        &self.blocks[self.diagonal[i]]
    }

    /// Adds $W r$ to `u`.
    pub fn add_product(&self, r: &[f64], u: &mut [f64]) {
        for (i, u) in u.chunks_exact_mut(3).enumerate().take(self.len()) {
            let (columns, blocks) = self.row(i);
            for (&j, b) in columns.iter().zip(blocks) {
                let r = &r[3 * j..3 * j + 3];
                for a in 0..3 {
                    u[a] += b[3 * a] * r[0] + b[3 * a + 1] * r[1] + b[3 * a + 2] * r[2];
                }
            }
        }
    }

    /// What impulses do to bodies at rest: $r \cdot Wr = \lvert G^\top r\rvert^2$, from the factors where they are known.
    ///
    /// Impulses that press against each other cancel in $G^\top r$. Through the entries of $W$ that leaves an error of the square of what is
    /// cancelled, through the factors one of its size.
    pub fn exchange(&self, r: &[f64], room: &mut Exchange) -> Exchanged {
        let mut pressed = 0.0;
        let mut square = 0.0;
        for (i, own) in r.chunks_exact(3).enumerate().take(self.len()) {
            if own == [0.0; 3] {
                continue;
            }
            let (columns, blocks) = self.row(i);
            for (&j, b) in columns.iter().zip(blocks) {
                for a in 0..3 {
                    for c in 0..3 {
                        let term = own[a] * b[3 * a + c] * r[3 * j + c];
                        square += term;
                        pressed += term.abs();
                    }
                }
            }
        }
        let factors = self.factors();
        if factors.is_empty() {
            return Exchanged { square, pressed, doubt: f64::EPSILON * pressed };
        }
        let bodies = factors.iter().flatten().flatten().map(|rows| rows.0 + 1).max().unwrap_or(0);
        if room.velocity.len() < bodies {
            room.velocity.resize(bodies, [0.0; 6]);
            room.sizes.resize(bodies, [0.0; 6]);
        }
        for &(body, _) in factors.iter().flatten().flatten() {
            room.velocity[body] = [0.0; 6];
            room.sizes[body] = [0.0; 6];
        }
        for (rows, r) in factors.iter().zip(r.chunks_exact(3)) {
            for (body, g) in rows.iter().flatten() {
                for k in 0..6 {
                    for a in 0..3 {
                        let term = g[6 * a + k] * r[a];
                        room.velocity[*body][k] += term;
                        room.sizes[*body][k] += term.abs();
                    }
                }
            }
        }
        let (mut square, mut doubt) = (0.0, 0.0);
        for &(body, _) in factors.iter().flatten().flatten() {
            // Every body once.
            for (y, size) in room.velocity[body].iter_mut().zip(&room.sizes[body]) {
                square += *y * *y;
                doubt += y.abs() * size;
                *y = 0.0;
            }
        }
        Exchanged { square, pressed, doubt: 2.0 * f64::EPSILON * doubt }
    }
}

/// Room for [`Delassus::exchange`]: of every body what the impulses add to its velocity, and the sum of the sizes of that.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    velocity: Vec<[f64; 6]>,
    sizes: Vec<[f64; 6]>,
}

/// Answer of [`Delassus::exchange`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchanged {
    /// $r \cdot Wr$.
    pub square: f64,
    /// $\lvert r\rvert \cdot \lvert W\rvert \lvert r\rvert$: what it is made of.
    pub pressed: f64,
    /// What rounding leaves unknown of it.
    pub doubt: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two contacts that push a unit mass against each other, with and without the factors of $W$.
    fn opposed(factors: bool) -> Delassus {
        let mut w = Delassus::default();
        w.clear();
        for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
            if factors {
                let mut rows = [0.0; 18];
                rows[0] = sign;
                w.push_factors([Some((3, rows)), None]);
            }
            for j in 0..2 {
                let mut block = [0.0; 9];
                block[0] = if i == j { 1.0 } else { -1.0 };
                w.push(j, block);
            }
            w.end_row();
        }
        w
    }

    #[test]
    fn what_presses_against_each_other_cancels_in_the_factors_and_not_in_the_entries() {
        // All these numbers are exact; (r_1 - r_2)^2 = 0.25.
        let r = [1e9 + 0.5, 0.0, 0.0, 1e9, 0.0, 0.0];
        let mut room = Exchange::default();
        let by_factors = opposed(true).exchange(&r, &mut room);
        assert_eq!(by_factors.square, 0.25);
        let by_entries = opposed(false).exchange(&r, &mut room);
        // Nothing is left of it there, and the doubt says so.
        let error = (by_entries.square - 0.25).abs();
        assert!(error >= 0.25 && error <= by_entries.doubt, "{by_entries:?}");
        assert!(by_factors.doubt < 1e-5 && by_entries.doubt > 1e2);
        // Again in the same room.
        assert_eq!(opposed(true).exchange(&r, &mut room), by_factors);
    }
}
