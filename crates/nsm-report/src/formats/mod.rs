//! Results in files that other tools read: `.npz` for NumPy, Parquet for data frames, VTK for ParaView.

pub mod npz;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod vtk;
