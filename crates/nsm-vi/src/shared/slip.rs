//! Slip that turns while it lasts.
//!
//! The total impulse of a piece acts over all of it, and the law on $v_1$ points it against the slip at the end: where slip turns, the direction is off by $O(\tau)$ and
//! velocities are of first order. The slip between the configurations, $s = J_T v\'$, is that of the middle. The law is therefore posed on
//! $$ \hat u_T = J_T v_1 + c, \qquad c = -\bigl(1 - e e^\top\bigr)\\,J_T v_1, \quad e = s/\lvert s\rvert, $$
//! so that the impulse points against $s$: found by rounds, which contract by what friction does in a piece over the slip. Where slip loses half of itself from the middle
//! to the end it ends within a piece or two, and the law is posed on $v_1$, as it is where a contact sticks at either end. Slip along a line has $c = 0$.

/// The change of $c$ that counts as none, relative to the slip.
const SETTLED: f64 = 1e-10;

/// $c$ for slip in the middle and at the end; none where slip in the middle is not faster than `slow`, or ends.
pub(crate) fn turn(middle: [f64; 2], end: [f64; 2], slow: f64) -> Option<[f64; 2]> {
    let slip = middle[0].hypot(middle[1]);
    let e = middle.map(|x| x / slip);
    let along = e[0] * end[0] + e[1] * end[1];
    (slip > slow && along > 0.5 * slip).then(|| [0, 1].map(|k| along * e[k] - end[k]))
}

/// Whether $c$ changes from `old` to `new` in a way that counts.
pub(crate) fn turns(middle: [f64; 2], old: [f64; 2], new: Option<[f64; 2]>) -> bool {
    let Some(new) = new else { return old != [0.0; 2] };
    (new[0] - old[0]).hypot(new[1] - old[1]) > SETTLED * middle[0].hypot(middle[1])
}
