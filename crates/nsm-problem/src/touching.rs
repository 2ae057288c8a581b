//! Which parts of a mechanism touch: shapes and planes, shapes and each other, under the laws that the file gives them.

use nsm_constraints::multibody::{End, Mechanism, NodeId};
use nsm_geom::{Plane, Shape};
use nsm_model::{ContactLaw, System, SystemError};

use super::{Contacts, Crowd};

/// Lets shapes touch planes and each other, but for pairs that are ignored or that a joint connects. Many bodies are a crowd, whose pairs are found
/// while it moves.
pub(super) fn with_contacts(
    mut system: System,
    mechanism: &Mechanism,
    shapes: &[(NodeId, Shape)],
    planes: &[(String, Plane)],
    contacts: &Contacts,
) -> Result<(System, Option<Crowd>), SystemError> {
    let crowd = Crowd::of(mechanism, shapes, contacts)?;
    let names: Vec<&str> = mechanism.nodes().map(|(name, _)| name).collect();
    // Limits of joints and ropes come first, and do not rub.
    let mut laws: Vec<ContactLaw> = mechanism
        .limits()
        .map(|(name, _)| {
            let law = contacts.law(limited(name), limited(name));
            ContactLaw::frictionless(law.restitution)
        })
        .collect();
    // Then gaps by formula.
    laws.extend(
        system.inequalities().names()[laws.len()..].iter().map(|gap| contacts.law(gap, "")),
    );
    for (k, (node, shape)) in shapes.iter().enumerate() {
        let name = names[node.index()];
        for (plane_name, plane) in planes {
            if !contacts.ignores(name, plane_name) && !mechanism.stands(*node) {
                let contact = format!("{name}-{plane_name}");
                system = system.with_plane_contact(mechanism, (*node, shape), plane, &contact)?;
                let law = contacts.law(name, plane_name);
                laws.resize(system.inequalities().len(), law);
            }
        }
        let listed = if crowd.is_some() { &[] } else { &shapes[..k] };
        for (other, other_shape) in listed {
            let other_name = names[other.index()];
            let still = mechanism.stands(*node) && mechanism.stands(*other);
            if still || contacts.ignores(other_name, name) || joined(mechanism, *node, *other) {
                continue;
            }
            let pair = ((*other, other_shape), (*node, shape));
            let contact = format!("{other_name}-{name}");
            system = system
                .with_pair_contact(mechanism, pair.0, pair.1, &contact)
                .map_err(|error| no_gap(&error, other_name, name))?;
            let law = contacts.law(other_name, name);
            laws.resize(system.inequalities().len(), law);
        }
    }
    Ok((system.with_contact_laws(&laws)?, crowd))
}

/// Shapes without a gap between them, and what to do.
pub(super) fn no_gap(error: &SystemError, one: &str, other: &str) -> SystemError {
    SystemError::DoesNotFit {
        method: "contact between these bodies",
        why: format!(
            "{error}; `[[contact]]` with `between = [\"{one}\", \"{other}\"]` and `ignore = true` lets them pass through each other"
        ),
    }
}

/// The joint or rope to which a limit belongs: `knee` of `knee: upper`.
pub(super) fn limited(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(joint, _)| joint)
}

/// Two bodies with shapes that no joint connects.
pub(super) fn strangers(mechanism: &Mechanism, shapes: &[(NodeId, Shape)]) -> Option<[String; 2]> {
    let name = |node: NodeId| mechanism.nodes().find(|(_, n)| *n == node).map(|(name, _)| name);
    for (k, (node, _)) in shapes.iter().enumerate() {
        for (other, _) in &shapes[..k] {
            if !joined(mechanism, *node, *other) {
                return Some([name(*other)?.to_owned(), name(*node)?.to_owned()]);
            }
        }
    }
    None
}

/// Whether a joint connects two nodes.
fn joined(mechanism: &Mechanism, a: NodeId, b: NodeId) -> bool {
    mechanism.joints().any(|(_, _, ends)| {
        let [(first, _), (second, _)] = ends;
        [first, second] == [End::Node(a), End::Node(b)]
            || [first, second] == [End::Node(b), End::Node(a)]
    })
}
