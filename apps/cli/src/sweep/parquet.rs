//! Rows as parquet, by the column API: see `crates/throng/src/record/parquet.rs` for why without arrow.

use super::grid::plain;
use super::row::{Column, Kind, Row};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::Type;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The bytes of a file. Empty cells are null.
pub fn write(columns: &[Column], rows: &[Row]) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<Kind> = columns.iter().map(|column| kind(column, rows)).collect();
    let fields = columns.iter().zip(&kinds).map(|(column, &kind)| field(column, kind));
    let schema = Type::group_type_builder("throng_sweep").with_fields(fields.collect::<Result<_, _>>()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema.build()?), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (column, kind) in columns.iter().zip(kinds) {
        let cells = rows.iter().map(|row| cell(column, row));
        match kind {
            Kind::Whole => write_column::<Int64Type>(&mut group, cells.map(|cell| cell?.parse().ok())),
            Kind::Number => write_column::<DoubleType>(&mut group, cells.map(|cell| cell?.parse().ok())),
            Kind::Flag => write_column::<BoolType>(&mut group, cells.map(|cell| cell?.parse().ok())),
            Kind::Text => {
                write_column::<ByteArrayType>(&mut group, cells.map(|cell| cell.map(ByteArray::from)))
            }
        }?;
    }
    group.close()?;
    writer.into_inner()
}

fn cell<'a>(column: &Column, row: &'a Row) -> Option<&'a str> {
    row.get(&column.name).map(String::as_str).filter(|cell| !cell.is_empty())
}

/// What a column holds: what it should, or else the narrowest that holds every cell.
fn kind(column: &Column, rows: &[Row]) -> Kind {
    let all = |fits: fn(&str) -> bool| rows.iter().filter_map(|row| cell(column, row)).all(fits);
    let fits = |kind: &Kind| match kind {
        Kind::Whole => all(|cell| cell.parse::<i64>().is_ok()),
        Kind::Number => all(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite)),
        Kind::Flag => all(|cell| cell.parse::<bool>().is_ok()),
        Kind::Text => true,
    };
    let candidates = match &column.kind {
        Some(kind) => std::slice::from_ref(kind),
        None => &[Kind::Flag, Kind::Whole, Kind::Number],
    };
    candidates.iter().copied().find(fits).unwrap_or(Kind::Text)
}

fn field(column: &Column, kind: Kind) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Whole => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

fn write_column<T: DataType>(
    group: &mut Group<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let levels: Vec<i16> =
        cells.map(|cell| i16::from(cell.map(|value| values.push(value)).is_some())).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}

/// Reads rows. The library takes some nonsense in a damaged file for a bug of its own and panics: an error like others.
pub fn read(path: &Path) -> Result<Vec<Row>, String> {
    let damaged = |_| Err(ParquetError::General("it is damaged".into()));
    let rows = catch_unwind(AssertUnwindSafe(|| read_rows(path))).unwrap_or_else(damaged);
    rows.map_err(|error| error.to_string())
}

fn read_rows(path: &Path) -> Result<Vec<Row>, ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    let cells = |row: parquet::record::Row| {
        row.into_columns().into_iter().map(|(name, field)| (name, text(field))).collect()
    };
    reader.get_row_iter(None)?.map(|row| row.map(cells)).collect()
}

fn text(field: Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text,
        Field::Double(number) => plain(number),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_narrow_as_its_cells_allow() {
        let column = |kind| Column { name: "a".into(), kind };
        let rows = |cells: &[&str]| -> Vec<Row> {
            cells.iter().map(|&cell| [("a".to_owned(), cell.to_owned())].into()).collect()
        };
        assert_eq!(kind(&column(None), &rows(&["1", "", "2"])), Kind::Whole);
        assert_eq!(kind(&column(None), &rows(&["1", "2.5"])), Kind::Number);
        assert_eq!(kind(&column(None), &rows(&["true", "false"])), Kind::Flag);
        assert_eq!(kind(&column(None), &rows(&["1", "orca"])), Kind::Text);
        assert_eq!(kind(&column(None), &rows(&["inf", "nan"])), Kind::Text);
        // Not narrower than it should be, and not lost where it cannot be what it should.
        assert_eq!(kind(&column(Some(Kind::Number)), &rows(&["1"])), Kind::Number);
        assert_eq!(kind(&column(Some(Kind::Whole)), &rows(&["18446744073709551615"])), Kind::Text);
    }

    #[test]
    fn damaged_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let columns = [Column { name: "a".into(), kind: None }];
        let bytes = write(&columns, &[[("a".to_owned(), "1".to_owned())].into()]).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(read(&path).is_err(), "{length} bytes");
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1);
    }
}
