//! Meshes in STL, binary or text: their corners, each once.

use nsm_geom::Vec3;

/// The corners of all triangles; nothing if the bytes are no STL.
pub(super) fn corners(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let mut corners = binary(bytes).or_else(|| plain(bytes))?;
    corners.sort_by(|a, b| {
        a.iter()
            .zip(b)
            .map(|(x, y)| x.total_cmp(y))
            .find(|o| o.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    corners.dedup();
    (corners.len() >= 4 && corners.iter().all(|c| c.iter().all(|x| x.is_finite())))
        .then_some(corners)
}

/// 80 bytes of header, a count, and 50 bytes for each triangle: its normal, three corners, two bytes of nothing.
fn binary(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let count = u32::from_le_bytes(bytes.get(80..84)?.try_into().ok()?);
    let triangles = bytes.get(84..)?;
    if triangles.len() != usize::try_from(count).ok()?.checked_mul(50)? {
        return None;
    }
    let number = |at: &[u8]| f64::from(f32::from_le_bytes([at[0], at[1], at[2], at[3]]));
    let corner = |at: &[u8]| Vec3::new(number(at), number(&at[4..]), number(&at[8..]));
    let of_one = |t: &'_ [u8]| [corner(&t[12..]), corner(&t[24..]), corner(&t[36..])];
    Some(triangles.chunks_exact(50).flat_map(of_one).collect())
}

fn plain(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.trim_start().starts_with("solid") {
        return None;
    }
    let vertices = text.lines().filter_map(|line| line.trim().strip_prefix("vertex"));
    let number = |line: &str| -> Option<Vec3> {
        let x: Vec<f64> = line.split_whitespace().map(|w| w.parse().ok()).collect::<Option<_>>()?;
        <[f64; 3]>::try_from(x).ok().map(Vec3::from)
    };
    vertices.map(number).collect()
}
