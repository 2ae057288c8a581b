//! What a run tells beyond its ledger: bands of parts of it, states at chosen instants, and counts.

use nsm_model::{Band, Events, Measurement};
use serde_json::{Map, Value, json};

/// What a run is asked to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    /// Instants, of each of which the state at the nearest step is kept.
    pub at: Vec<f64>,
    /// Into how many parts of equal length the run is divided.
    pub windows: usize,
}

/// The answers, gathered step by step.
#[derive(Debug)]
pub(crate) struct Account {
    /// Steps whose states are kept, one for each instant.
    due: Vec<usize>,
    states: Vec<Value>,
    windows: Vec<Window>,
    count: usize,
    steps: usize,
    gaps: Vec<Band>,
    contacts: Vec<ContactTotal>,
    step: f64,
    below: usize,
    most: usize,
    several: usize,
}

/// What a contact did over a run.
#[derive(Clone, Copy, Debug, Default)]
struct ContactTotal {
    events: usize,
    impulse: f64,
    tangential: [f64; 2],
    work: f64,
    sticking: usize,
    slipping: usize,
    largest_force: f64,
    largest_tangential_force: f64,
}

impl ContactTotal {
    fn json(&self) -> Value {
        json!({
            "events": self.events,
            "impulse": self.impulse,
            "tangential": self.tangential,
            "work": self.work,
            "sticking": self.sticking,
            "slipping": self.slipping,
            "largest_force": self.largest_force,
            "largest_tangential_force": self.largest_tangential_force,
        })
    }
}

#[derive(Debug)]
struct Window {
    start: f64,
    energy: Band,
    invariants: Vec<Band>,
    penetration: f64,
    residuals: [f64; 2],
    events: usize,
}

impl Account {
    pub(crate) fn new(questions: &Questions, start: f64, step: f64, steps: usize) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the run
        let nearest = |t: &f64| ((t - start) / step).round().clamp(0.0, steps as f64) as usize;
        Self {
            due: questions.at.iter().map(nearest).collect(),
            states: vec![Value::Null; questions.at.len()],
            windows: Vec::with_capacity(questions.windows),
            count: questions.windows,
            steps,
            gaps: Vec::new(),
            contacts: Vec::new(),
            step,
            below: 0,
            most: 0,
            several: 0,
        }
    }

    /// Takes in a step; `state` writes the state down, with the names of the tracked quantities.
    pub(crate) fn observe(
        &mut self,
        step: usize,
        m: &Measurement,
        events: &Events,
        names: &[String],
        state: impl Fn() -> Value,
    ) {
        for (place, _) in self.states.iter_mut().zip(&self.due).filter(|(_, due)| **due == step) {
            let mut object = state();
            object["energy"] = json!(m.energy());
            let values = names.iter().cloned().zip(m.invariants.iter().map(|&x| json!(x)));
            object["invariants"] = Value::Object(values.collect());
            *place = object;
        }
        if self.gaps.is_empty() {
            self.gaps = m.gaps.iter().map(|&gap| Band::new(gap)).collect();
            self.contacts.resize(m.gaps.len(), ContactTotal::default());
        }
        self.add_contacts(events);
        self.gaps.iter_mut().zip(&m.gaps).for_each(|(band, gap)| band.extend(*gap));
        self.below += usize::from(m.gaps.iter().any(|gap| *gap < 0.0));
        self.most = self.most.max(events.len());
        self.several += usize::from(events.len() > 1);
        self.extend_windows(step, m, events.len());
    }

    /// Adds what contacts did in the events of a step and, held with friction, over it.
    fn add_contacts(&mut self, events: &Events) {
        for event in events.iter() {
            for (k, &i) in event.contacts.iter().enumerate() {
                let Some(total) = self.contacts.get_mut(i) else { continue };
                total.events += 1;
                total.impulse += event.impulses[k];
                total.work += event.work.get(k).copied().unwrap_or(0.0);
                if let Some([a, b]) = event.tangential.get(k) {
                    total.tangential[0] += a;
                    total.tangential[1] += b;
                }
            }
        }
        for held in events.held() {
            let Some(total) = self.contacts.get_mut(held.contact) else { continue };
            total.impulse += held.normal;
            let [a, b] = held.tangential;
            total.tangential[0] += a;
            total.tangential[1] += b;
            total.work += held.work;
            total.slipping += usize::from(held.slips);
            total.sticking += usize::from(!held.slips);
            total.largest_force = total.largest_force.max(held.normal / self.step);
            total.largest_tangential_force =
                total.largest_tangential_force.max(a.hypot(b) / self.step);
        }
    }

    /// A step on the border of two windows is the last of the first and the first of the second.
    fn extend_windows(&mut self, step: usize, m: &Measurement, events: usize) {
        if self.count == 0 {
            return;
        }
        let begins = |k: usize| step >= (k * self.steps).div_ceil(self.count);
        if let Some(window) = self.windows.last_mut() {
            window.energy.extend(m.energy());
            window.invariants.iter_mut().zip(&m.invariants).for_each(|(b, x)| b.extend(*x));
            window.penetration = window.penetration.max(m.penetration());
            let residuals = [m.position_residual, m.velocity_residual];
            window.residuals.iter_mut().zip(residuals).for_each(|(a, b)| *a = a.max(b));
            window.events += events;
        }
        if self.windows.len() < self.count && begins(self.windows.len()) {
            self.windows.push(Window {
                start: m.t,
                energy: Band::new(m.energy()),
                invariants: m.invariants.iter().map(|&x| Band::new(x)).collect(),
                penetration: m.penetration(),
                residuals: [m.position_residual, m.velocity_residual],
                events: 0,
            });
        }
    }

    /// Adds the answers to the object of a run.
    pub(crate) fn write(self, object: &mut Value, names: &[String], gaps: &[String]) {
        let bands = |names: &[String], bands: &[Band]| -> Map<String, Value> {
            names.iter().cloned().zip(bands.iter().map(band)).collect()
        };
        let gaps: Vec<String> = gaps.iter().map(|name| word(name)).collect();
        object["gaps"] = Value::Object(bands(&gaps, &self.gaps));
        let contacts = gaps.iter().cloned().zip(self.contacts.iter().map(ContactTotal::json));
        object["contacts"] = Value::Object(contacts.collect());
        object["penetrating_steps"] = json!(self.below);
        object["events_per_step"] = json!({ "most": self.most, "several": self.several });
        if !self.states.is_empty() {
            object["at"] = Value::Array(self.states);
        }
        if self.count > 0 {
            let window = |w: &Window| {
                json!({
                    "t": w.start,
                    "energy": band(&w.energy),
                    "invariants": bands(names, &w.invariants),
                    "penetration": w.penetration,
                    "residual": { "position": w.residuals[0], "velocity": w.residuals[1] },
                    "events": w.events,
                })
            };
            object["windows"] = self.windows.iter().map(window).collect();
        }
    }
}

/// A band as it stands in the JSON; `drift` is the older name of `deviation`.
pub(crate) fn band(band: &Band) -> Value {
    let deviation = band.deviation();
    json!({
        "start": band.start, "min": band.min, "max": band.max, "end": band.end,
        "deviation": deviation, "trend": band.trend(), "drift": deviation, "width": band.width(),
    })
}

/// A name that conditions can speak of: anything but letters and digits becomes `_`.
pub(crate) fn word(name: &str) -> String {
    let parts: Vec<&str> =
        name.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'')).collect();
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}
