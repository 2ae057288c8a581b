//! Steps one by one, for people who drive their own loop.
//!
//! A stepper borrows its system. Both live on a thread of their own that takes orders, so that Python can hold on to them as long as it
//! likes; an order runs without the interpreter's lock.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use nsm::model::{State, Stepper, Tolerance, check_start};
use nsm_problem::Subject;
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::problem::{ProblemError, PyProblem};

create_exception!(
    nsm,
    StepError,
    PyRuntimeError,
    "A step that failed; the state is that before it."
);

/// What can be asked of the thread.
enum Order {
    Step(usize),
    Set(f64, Vec<f64>, Vec<f64>),
}

/// What it answers: the state, how many steps were taken, and why not all.
struct Answer {
    state: State,
    events: usize,
    failure: Option<String>,
}

/// A stepper at work.
#[pyclass(frozen)]
pub(crate) struct Simulation {
    orders: Mutex<Option<Sender<Order>>>,
    answers: Mutex<Receiver<Answer>>,
    last: Mutex<(State, usize)>,
    names: Vec<String>,
    step: f64,
    worker: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl Simulation {
    /// Binds the method of a run to its system.
    #[new]
    fn new(problem: PyRef<'_, PyProblem>, index: usize) -> PyResult<Self> {
        let run = problem.run(index)?.clone();
        let subject = problem.inner.subject_of(&run.name);
        let (names, start) = match subject {
            Subject::Coordinates { system, start } | Subject::Mechanism { system, start, .. } => {
                (system.names().to_vec(), start.clone())
            }
            Subject::Rigid { .. } => {
                let message = "free rigid bodies are run as a whole: use `nsm.run`, or a joint makes them a mechanism";
                return Err(ProblemError::new_err(message));
            }
        };
        let (orders, taken) = channel::<Order>();
        let (answering, answers) = channel::<Answer>();
        let (ready, bound) = channel::<Result<(), String>>();
        let (problem, step, first) = (problem.inner.clone(), run.step, start.clone());
        let worker = std::thread::spawn(move || {
            let (system, mechanism) = match problem.subject_of(&run.name) {
                Subject::Coordinates { system, .. } => (system, None),
                Subject::Mechanism { system, mechanism, .. } => (system, Some(&**mechanism)),
                Subject::Rigid { .. } => return,
            };
            let mut stepper = match run.stepper(system, &first, mechanism) {
                Ok(stepper) => stepper,
                Err(error) => {
                    let _ = ready.send(Err(error.to_string()));
                    return;
                }
            };
            let _ = ready.send(Ok(()));
            let mut state = first;
            for order in taken {
                let mut answer = Answer { state: state.clone(), events: 0, failure: None };
                match order {
                    Order::Set(t, q, v) => {
                        let made = State::new(system, &q, &v).and_then(|mut state| {
                            state.t = t;
                            check_start(system, &state, Tolerance::default()).map(|()| state)
                        });
                        let bound = made.map_err(|e| e.to_string()).and_then(|state| {
                            let stepper = run.stepper(system, &state, mechanism);
                            stepper.map(|s| (s, state)).map_err(|e| e.to_string())
                        });
                        match bound {
                            Ok(fresh) => (stepper, state) = fresh,
                            Err(message) => answer.failure = Some(message),
                        }
                    }
                    Order::Step(count) => {
                        let t = state.t;
                        for k in 0..count {
                            match stepper.step(&mut state) {
                                // t = t0 + n h: sums of steps would gather rounding.
                                Ok(_) => state.t = t + (k + 1) as f64 * run.step,
                                Err(error) => {
                                    let at = state.t;
                                    answer.failure = Some(format!("t = {at}: {error}"));
                                    break;
                                }
                            }
                            answer.events += stepper.events().iter().count();
                        }
                    }
                }
                answer.state = state.clone();
                if answering.send(answer).is_err() {
                    return;
                }
            }
        });
        match bound.recv() {
            Ok(Ok(())) => {}
            Ok(Err(message)) => return Err(ProblemError::new_err(message)),
            Err(_) => return Err(StepError::new_err("the stepper did not start")),
        }
        Ok(Self {
            orders: Mutex::new(Some(orders)),
            answers: Mutex::new(answers),
            last: Mutex::new((start, 0)),
            names,
            step,
            worker: Mutex::new(Some(worker)),
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

    /// Goes on from another state.
    fn set(&self, py: Python<'_>, t: f64, q: Vec<f64>, v: Vec<f64>) -> PyResult<()> {
        let n = self.names.len();
        if q.len() != n || v.len() != n {
            return Err(ProblemError::new_err(format!(
                "{} positions and {} velocities for {} coordinates",
                q.len(),
                v.len(),
                n
            )));
        }
        if q.iter().chain(&v).chain([&t]).any(|x| !x.is_finite()) {
            return Err(ProblemError::new_err("a state is made of finite numbers"));
        }
        self.order(py, Order::Set(t, q, v))
    }

    #[getter]
    fn t(&self) -> f64 {
        locked(&self.last).0.t
    }

    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &locked(&self.last).0.q)
    }

    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &locked(&self.last).0.v)
    }

    #[getter]
    fn p<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &locked(&self.last).0.p)
    }

    /// Events since the beginning.
    #[getter]
    fn events(&self) -> usize {
        locked(&self.last).1
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
        last.0 = answer.state;
        last.1 += answer.events;
        answer.failure.map_or(Ok(()), |message| Err(StepError::new_err(message)))
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
