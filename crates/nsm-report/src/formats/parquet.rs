//! Tables as Parquet: typed columns, written group by group, so that a table of any length needs little memory.
//!
//! Every column may have gaps (`OPTIONAL`); nothing is compressed or collected in dictionaries: numbers in full precision hardly repeat.

use std::io::Write;
use std::sync::Arc;

use nsm_problem::{Cell, Kind};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// Why a table cannot be written.
pub type Error = ParquetError;

/// A Parquet file that is being written.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    kinds: Vec<Kind>,
}

impl<W: Write + Send> Writer<W> {
    /// A table with these columns.
    ///
    /// # Errors
    /// If two columns have one name, or the file cannot be written.
    pub fn new(out: W, columns: &[(String, Kind)]) -> Result<Self, Error> {
        let field = |(name, kind): &(String, Kind)| {
            let (physical, logical) = match kind {
                Kind::Number => (Physical::DOUBLE, None),
                Kind::Integer => (Physical::INT64, None),
                Kind::Flag => (Physical::BOOLEAN, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical);
            Ok(Arc::new(field.build()?))
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, Error>>()?;
        let schema = Type::group_type_builder("table").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_created_by(concat!("nsm ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { file, kinds: columns.iter().map(|(_, kind)| *kind).collect() })
    }

    /// Writes a group of rows; a cell that does not fit its column is a gap.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn group(&mut self, rows: &[Vec<Cell>]) -> Result<(), Error> {
        let mut group = self.file.next_row_group()?;
        let mut c = 0;
        while let Some(mut column) = group.next_column()? {
            let cells = rows.iter().map(|row| row.get(c).unwrap_or(&Cell::Missing));
            match self.kinds[c] {
                Kind::Number => write::<DoubleType>(&mut column, cells, |cell| match cell {
                    Cell::Number(x) => Some(*x),
                    #[allow(clippy::cast_precision_loss)] // a count among numbers
                    Cell::Integer(n) => Some(*n as f64),
                    _ => None,
                })?,
                Kind::Integer => write::<Int64Type>(&mut column, cells, |cell| match cell {
                    Cell::Integer(n) => Some(*n),
                    _ => None,
                })?,
                Kind::Flag => write::<BoolType>(&mut column, cells, |cell| match cell {
                    Cell::Flag(flag) => Some(*flag),
                    _ => None,
                })?,
                Kind::Text => write::<ByteArrayType>(&mut column, cells, |cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                })?,
            }
            column.close()?;
            c += 1;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.file.close().map(|_| ())
    }
}

fn write<'a, T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), Error> {
    let cells: Vec<Option<T::T>> = cells.map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}
