//! Steps one by one, for people who drive their own loop.
//!
//! A stepper borrows its system. Both live on a thread of their own that takes orders, so that Python can hold on to them as long as it
//! likes; an order runs without the interpreter's lock.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use nsm::constraints::multibody::Mechanism;
use nsm::geom::{Mat3, Pose, Vec3};
use nsm::model::{State, Stepper, System, Tolerance, check_start};
use nsm::vi::rigid::{BodyState, RigidState, RigidWorld};
use nsm_problem::{Layout, Run, Subject};
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::callback::Raised;
use crate::problem::{ProblemError, PyProblem, taken};

create_exception!(
    nsm,
    StepError,
    PyRuntimeError,
    "A step that failed; the state is that before it."
);

/// What can be asked of the thread.
enum Order {
    Step(usize),
    /// Time, and positions and velocities, or poses and momenta of bodies.
    Set(f64, Vec<f64>),
}

/// What it answers: the state as numbers, how many events there were, and why not all steps were taken.
struct Answer {
    t: f64,
    row: Vec<f64>,
    events: usize,
    failure: Option<String>,
}

/// A stepper at work.
#[pyclass(frozen)]
pub(crate) struct Simulation {
    orders: Mutex<Option<Sender<Order>>>,
    answers: Mutex<Receiver<Answer>>,
    last: Mutex<(f64, Vec<f64>, usize)>,
    names: Vec<String>,
    bodies: bool,
    step: f64,
    worker: Mutex<Option<JoinHandle<()>>>,
    /// What a function of the problem raised.
    raised: Raised,
}

/// A stepper with how its states are read, written and begun anew.
struct Binding<'a, S> {
    stepper: Box<dyn Stepper<State = S> + 'a>,
    state: S,
    step: f64,
    time: fn(&mut S) -> &mut f64,
    row: Box<dyn Fn(&S) -> Vec<f64> + 'a>,
    #[allow(clippy::type_complexity)] // what it says
    begin: Box<dyn Fn(f64, &[f64]) -> Result<(Box<dyn Stepper<State = S> + 'a>, S), String> + 'a>,
}

impl<S: Clone> Binding<'_, S> {
    /// Takes orders until there are none any more.
    fn serve(mut self, taken: &Receiver<Order>, answering: &Sender<Answer>) {
        for order in taken {
            let (mut events, mut failure) = (0, None);
            match order {
                Order::Set(t, row) => match (self.begin)(t, &row) {
                    Ok(fresh) => (self.stepper, self.state) = fresh,
                    Err(message) => failure = Some(message),
                },
                Order::Step(count) => {
                    let t = *(self.time)(&mut self.state);
                    for k in 0..count {
                        match self.stepper.step(&mut self.state) {
                            // t = t0 + n h: sums of steps would gather rounding.
                            Ok(_) => *(self.time)(&mut self.state) = t + (k + 1) as f64 * self.step,
                            Err(error) => {
                                let at = *(self.time)(&mut self.state);
                                failure = Some(format!("t = {at}: {error}"));
                                break;
                            }
                        }
                        events += self.stepper.events().iter().count();
                    }
                }
            }
            let (t, row) = (*(self.time)(&mut self.state), (self.row)(&self.state));
            if answering.send(Answer { t, row, events, failure }).is_err() {
                return;
            }
        }
    }
}

/// A system in coordinates.
fn bind_system<'a>(
    run: &'a Run,
    system: &'a System,
    mechanism: Option<&'a Mechanism>,
    start: &State,
) -> Result<Binding<'a, State>, String> {
    let bind =
        move |state: &State| run.stepper(system, state, mechanism).map_err(|e| e.to_string());
    let begin = move |t: f64, row: &[f64]| {
        let (q, v) = row.split_at(row.len() / 2);
        let mut state = State::new(system, q, v).map_err(|e| e.to_string())?;
        state.t = t;
        check_start(system, &state, Tolerance::default()).map_err(|e| e.to_string())?;
        Ok((bind(&state)?, state))
    };
    Ok(Binding {
        stepper: bind(start)?,
        state: start.clone(),
        step: run.step,
        time: |state| &mut state.t,
        row: Box::new(|state| [&state.q[..], &state.v[..], &state.p[..]].concat()),
        begin: Box::new(begin),
    })
}

/// Free bodies.
fn bind_bodies<'a>(
    run: &'a Run,
    world: &'a RigidWorld,
    start: &RigidState,
) -> Result<Binding<'a, RigidState>, String> {
    let bind = move |state: &RigidState| {
        run.method.bind_bodies(world, state, run.step).map_err(|e| e.to_string())
    };
    let begin = move |t: f64, row: &[f64]| {
        let body = |r: &[f64]| {
            let pose =
                Pose { x: Vec3::from_column_slice(&r[..3]), rot: Mat3::from_row_slice(&r[3..12]) };
            BodyState::new(
                pose,
                Vec3::from_column_slice(&r[12..15]),
                Vec3::from_column_slice(&r[15..18]),
            )
        };
        let mut state = RigidState::new(row.chunks_exact(18).map(body));
        state.t = t;
        Ok((bind(&state)?, state))
    };
    let row = move |state: &RigidState| {
        let mut row = Vec::new();
        world.row(state, &mut row);
        row
    };
    Ok(Binding {
        stepper: bind(start)?,
        state: start.clone(),
        step: run.step,
        time: |state| &mut state.t,
        row: Box::new(row),
        begin: Box::new(begin),
    })
}

#[pymethods]
impl Simulation {
    /// Binds the method of a run to its system.
    #[new]
    fn new(py: Python<'_>, problem: PyRef<'_, PyProblem>, index: usize) -> PyResult<Self> {
        let run = problem.run(index)?.clone();
        let (names, bodies, t, row) = match problem.inner.subject_of(&run.name) {
            Subject::Mechanism { crowd: Some(_), .. } => {
                let message = "so many bodies move as a whole run only, in which near pairs are found on the way";
                return Err(ProblemError::new_err(message));
            }
            Subject::Coordinates { system, start } | Subject::Mechanism { system, start, .. } => {
                let row = [&start.q[..], &start.v[..], &start.p[..]].concat();
                (system.names().to_vec(), false, start.t, row)
            }
            Subject::Rigid { world, start, .. } => {
                if !run.method.facts.bodies {
                    let message = format!(
                        "`{}` moves free bodies as a whole run only: take `lgvci` for steps one by one, or a joint makes them a mechanism",
                        run.method.name()
                    );
                    return Err(ProblemError::new_err(message));
                }
                let mut row = Vec::new();
                world.row(start, &mut row);
                (Layout::<RigidState>::columns(world), true, start.t, row)
            }
        };
        let (orders, taken) = channel::<Order>();
        let (answering, answers) = channel::<Answer>();
        let (ready, bound) = channel::<Result<(), String>>();
        let (problem, step, raised) = (problem.inner.clone(), run.step, problem.raised.clone());
        let worker = std::thread::spawn(move || {
            let served = match problem.subject_of(&run.name) {
                Subject::Rigid { world, start, .. } => {
                    bind_bodies(&run, world, start).map(|bound| {
                        let _ = ready.send(Ok(()));
                        bound.serve(&taken, &answering);
                    })
                }
                Subject::Coordinates { system, start } => bind_system(&run, system, None, start)
                    .map(|bound| {
                        let _ = ready.send(Ok(()));
                        bound.serve(&taken, &answering);
                    }),
                Subject::Mechanism { system, mechanism, start, .. } => {
                    bind_system(&run, system, Some(mechanism), start).map(|bound| {
                        let _ = ready.send(Ok(()));
                        bound.serve(&taken, &answering);
                    })
                }
            };
            if let Err(message) = served {
                let _ = ready.send(Err(message));
            }
        });
        // Binding may call functions of the problem, which need the interpreter's lock.
        match py.detach(move || bound.recv()) {
            Ok(Ok(())) => {}
            Ok(Err(message)) => return Err(ProblemError::new_err(message)),
            Err(_) => return Err(StepError::new_err("the stepper did not start")),
        }
        Ok(Self {
            orders: Mutex::new(Some(orders)),
            answers: Mutex::new(answers),
            last: Mutex::new((t, row, 0)),
            names,
            bodies,
            step,
            worker: Mutex::new(Some(worker)),
            raised,
        })
    }

    /// Takes so many steps.
    fn advance(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        // In pieces, so that Ctrl-C is heard.
        let mut left = count;
        while left > 0 {
            let piece = left.min(4096);
            self.order(py, Order::Step(piece))?;
            left -= piece;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Goes on from another state: positions and velocities, or the rows of bodies.
    fn set(&self, py: Python<'_>, t: f64, row: Vec<f64>) -> PyResult<()> {
        let due = if self.bodies { self.names.len() } else { 2 * self.names.len() };
        if row.len() != due {
            return Err(ProblemError::new_err(format!(
                "{} numbers for a state of {due}",
                row.len()
            )));
        }
        if row.iter().chain([&t]).any(|x| !x.is_finite()) {
            return Err(ProblemError::new_err("a state is made of finite numbers"));
        }
        self.order(py, Order::Set(t, row))
    }

    #[getter]
    fn t(&self) -> f64 {
        locked(&self.last).0
    }

    /// The numbers of the state: positions, velocities and momenta, or poses and momenta of bodies.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &locked(&self.last).1)
    }

    /// Whether the state is that of free bodies.
    #[getter]
    fn bodies(&self) -> bool {
        self.bodies
    }

    /// Events since the beginning.
    #[getter]
    fn events(&self) -> usize {
        locked(&self.last).2
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    #[getter]
    fn step_size(&self) -> f64 {
        self.step
    }
}

impl Simulation {
    fn order(&self, py: Python<'_>, order: Order) -> PyResult<()> {
        let answer = py.detach(|| {
            let answers = locked(&self.answers);
            locked(&self.orders).as_ref().and_then(|orders| orders.send(order).ok())?;
            answers.recv().ok()
        });
        let Some(answer) = answer else {
            return Err(StepError::new_err("the simulation has ended"));
        };
        let mut last = locked(&self.last);
        (last.0, last.1) = (answer.t, answer.row);
        last.2 += answer.events;
        match (answer.failure, taken(&self.raised)) {
            (_, Some(error)) => Err(error),
            (Some(message), None) => Err(StepError::new_err(message)),
            (None, None) => Ok(()),
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // Without orders the thread ends.
        *locked(&self.orders) = None;
        if let Some(worker) = locked(&self.worker).take() {
            let _ = worker.join();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
