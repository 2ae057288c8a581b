//! Which bodies may touch each other during a step, directly or through others.

/// Bodies that hang together, by union and find; those of them that are to be moved together are listed as islands.
#[derive(Debug, Default)]
pub(super) struct Groups {
    root: Vec<u32>,
    /// Of roots: whether something of the group is entered, and the number of its island.
    active: Vec<bool>,
    number: Vec<u32>,
    /// Couples and bodies of the islands one after another, and where each begins in both.
    couples: Vec<usize>,
    bodies: Vec<usize>,
    starts: Vec<(usize, usize)>,
}

#[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
impl Groups {
    pub(super) fn new(bodies: usize) -> Self {
        Self {
            root: vec![0; bodies],
            active: vec![false; bodies],
            number: vec![0; bodies],
            ..Self::default()
        }
    }

    /// Every body by itself.
    pub(super) fn clear(&mut self) {
        self.root.iter_mut().zip(0..).for_each(|(root, i)| *root = i);
        self.active.fill(false);
    }

    /// The smallest body of a group.
    fn find(&mut self, b: usize) -> usize {
        let mut i = b as u32;
        while self.root[i as usize] != i {
            let above = self.root[self.root[i as usize] as usize];
            self.root[i as usize] = above;
            i = above;
        }
        i as usize
    }

    pub(super) fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.find(i), self.find(j));
        self.root[i.max(j)] = i.min(j) as u32;
    }

    /// Makes the group of a body an island. Groups must not be joined any more.
    pub(super) fn activate(&mut self, b: usize) {
        let root = self.find(b);
        self.active[root] = true;
    }

    pub(super) fn is_active(&mut self, b: usize) -> bool {
        let root = self.find(b);
        self.active[root]
    }

    /// Lists the islands in the order of their first bodies; `of` is a moving body of each couple.
    pub(super) fn list(
        &mut self,
        of: impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone,
        moves: impl Fn(usize) -> bool,
    ) {
        self.starts.clear();
        let (mut couples, mut bodies) = (0, 0);
        for b in 0..self.root.len() {
            let root = self.find(b);
            if !self.active[root] || !moves(b) {
                continue;
            }
            if root == b {
                self.number[b] = self.starts.len() as u32;
                self.starts.push((0, 0));
            }
            self.starts[self.number[root] as usize].1 += 1;
            bodies += 1;
        }
        if self.starts.is_empty() {
            return;
        }
        for b in of.clone() {
            let root = self.find(b);
            if self.active[root] {
                self.starts[self.number[root] as usize].0 += 1;
                couples += 1;
            }
        }
        // From how many there are to where the next one begins, and down again as they are filled from behind.
        let mut end = (0, 0);
        for start in &mut self.starts {
            end = (end.0 + start.0, end.1 + start.1);
            *start = end;
        }
        self.couples.resize(couples, 0);
        self.bodies.resize(bodies, 0);
        for (k, b) in of.enumerate().rev() {
            let root = self.find(b);
            if self.active[root] {
                let at = &mut self.starts[self.number[root] as usize].0;
                *at -= 1;
                self.couples[*at] = k;
            }
        }
        for b in (0..self.root.len()).rev() {
            let root = self.find(b);
            if self.active[root] && moves(b) {
                let at = &mut self.starts[self.number[root] as usize].1;
                *at -= 1;
                self.bodies[*at] = b;
            }
        }
        self.starts.push((couples, bodies));
    }

    /// Number of islands.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Couples and bodies of an island, both in order.
    pub(super) fn island(&self, k: usize) -> (&[usize], &[usize]) {
        let ((c0, b0), (c1, b1)) = (self.starts[k], self.starts[k + 1]);
        (&self.couples[c0..c1], &self.bodies[b0..b1])
    }
}
