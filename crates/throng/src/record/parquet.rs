//! Parquet: `frame, t, id, x, y, vx, vy, cohort`, in row groups of bounded size.
//!
//! The column API without arrow: eight plain columns do not earn a build of three minutes.
//! A parquet file has its index at its end, so one that is killed in the middle is lost.

use super::error::Fault;
use super::read::Builder;
use super::{RecordPosition, Rows, RunInfo, Sink};
use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "
message throng {
  REQUIRED INT64 frame;
  REQUIRED DOUBLE t;
  REQUIRED INT64 id;
  REQUIRED DOUBLE x;
  REQUIRED DOUBLE y;
  REQUIRED FLOAT vx;
  REQUIRED FLOAT vy;
  REQUIRED BINARY cohort (UTF8);
}";

/// Rows that are held before they are written: a few MB.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Rows that are read at a time.
const ROWS_PER_READ: usize = 1 << 13;

/// A parquet file being written.
pub(super) struct Parquet {
    writer: SerializedFileWriter<File>,
    group: Group,
    /// By cohort; one more, empty, for those that have none.
    cohort: Vec<ByteArray>,
}

/// Columns that wait to be written.
#[derive(Default)]
struct Group {
    frame: Vec<i64>,
    t: Vec<f64>,
    id: Vec<i64>,
    x: Vec<f64>,
    y: Vec<f64>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    cohort: Vec<ByteArray>,
}

impl Parquet {
    pub(super) fn create(path: &Path, info: &RunInfo, fps: f64) -> Result<Parquet, Fault> {
        let info_json = serde_json::to_string(info).unwrap_or_default();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![
                KeyValue::new("throng_run".to_owned(), info_json),
                KeyValue::new("fps".to_owned(), format!("{fps:?}")),
            ]))
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties))?;
        let names = info.cohorts.iter().map(|cohort| cohort.name.as_str()).chain([""]);
        Ok(Parquet { writer, group: Group::default(), cohort: names.map(ByteArray::from).collect() })
    }

    fn write_group(&mut self) -> Result<(), Fault> {
        if self.group.id.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        column::<Int64Type>(&mut group, &mut self.group.frame)?;
        column::<DoubleType>(&mut group, &mut self.group.t)?;
        column::<Int64Type>(&mut group, &mut self.group.id)?;
        column::<DoubleType>(&mut group, &mut self.group.x)?;
        column::<DoubleType>(&mut group, &mut self.group.y)?;
        column::<FloatType>(&mut group, &mut self.group.vx)?;
        column::<FloatType>(&mut group, &mut self.group.vy)?;
        column::<ByteArrayType>(&mut group, &mut self.group.cohort)?;
        group.close()?;
        Ok(())
    }
}

/// Writes the next column of a row group, and empties it for the next one.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &mut Vec<T::T>,
) -> Result<(), Fault> {
    let Some(mut column) = group.next_column()? else {
        return Err(Fault::content("the schema has fewer columns than a row"));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()?;
    values.clear();
    Ok(())
}

impl Sink for Parquet {
    fn frame(&mut self, rows: &Rows<'_>) -> Result<(), Fault> {
        for row in rows.iter() {
            let cohort = usize::from(row.cohort).min(self.cohort.len() - 1);
            self.group.frame.push(rows.number as i64);
            self.group.t.push(rows.frame.time);
            self.group.id.push(i64::from(row.id));
            self.group.x.push(row.x);
            self.group.y.push(row.y);
            self.group.vx.push(row.vx);
            self.group.vy.push(row.vy);
            self.group.cohort.push(self.cohort[cohort].clone());
            if self.group.id.len() == ROWS_PER_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Nothing: what is written so far cannot be read before the index is there.
    fn save(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn locate(&mut self, position: &mut RecordPosition) -> Result<(), Fault> {
        position.bytes = self.writer.bytes_written() as u64;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.write_group()?;
        self.writer.finish()?;
        Ok(())
    }
}

/// Why a file cannot be continued.
pub(super) fn is_complete() -> Fault {
    Fault::content(
        "a parquet file is complete once its index is written; record long runs that may be interrupted as .sqlite \
         or .csv",
    )
}

/// Reads a file.
///
/// The library takes some nonsense in a damaged file for a bug of its own and panics; here that is an error like others.
pub(super) fn read(path: &Path, run: &mut Builder) -> Result<(), Fault> {
    let file = File::open(path)?;
    catch_unwind(AssertUnwindSafe(|| read_file(file, run)))
        .unwrap_or_else(|_| Err(Fault::content("it is damaged, and its index makes no sense")))
}

fn read_file(file: File, run: &mut Builder) -> Result<(), Fault> {
    let reader = SerializedFileReader::new(file)?;
    check_index(&reader)?;
    read_metadata(&reader, run);
    let columns = Columns::of(&reader)?;
    for group in 0..reader.num_row_groups() {
        read_group(reader.get_row_group(group)?.as_ref(), &columns, run)?;
    }
    Ok(())
}

/// Refuses the one nonsense that damaged files have often, before it comes to a panic with its message on the terminal.
fn check_index(reader: &SerializedFileReader<File>) -> Result<(), Fault> {
    let mut chunks = reader.metadata().row_groups().iter().flat_map(|group| group.columns());
    let negative = chunks.any(|chunk| {
        chunk.compressed_size() < 0
            || chunk.data_page_offset() < 0
            || chunk.dictionary_page_offset().is_some_and(|offset| offset < 0)
    });
    if negative { Err(Fault::content("it is damaged: a column begins before the file does")) } else { Ok(()) }
}

fn read_metadata(reader: &SerializedFileReader<File>, run: &mut Builder) {
    for pair in reader.metadata().file_metadata().key_value_metadata().into_iter().flatten() {
        match (pair.key.as_str(), &pair.value) {
            ("throng_run", Some(info)) => run.info_json(info),
            ("fps", Some(fps)) => run.fps = fps.parse().ok(),
            _ => {}
        }
    }
}

/// Where the columns stand that a run needs.
struct Columns {
    frame: usize,
    t: Option<usize>,
    id: usize,
    x: usize,
    y: usize,
    cohort: Option<usize>,
}

impl Columns {
    fn of(reader: &SerializedFileReader<File>) -> Result<Columns, Fault> {
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
        let find = |name: &str| names.iter().position(|column| *column == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                let found = names.join(", ");
                Fault::Content(format!(
                    "there is no column `{name}`; needed: frame, id, x, y; found: {found}"
                ))
            })
        };
        Ok(Columns {
            frame: need("frame")?,
            t: find("t"),
            id: need("id")?,
            x: need("x")?,
            y: need("y")?,
            cohort: find("cohort"),
        })
    }
}

fn read_group(group: &dyn RowGroupReader, columns: &Columns, run: &mut Builder) -> Result<(), Fault> {
    let numbers =
        |column: usize| -> Result<Numbers, Fault> { Numbers::over(group.get_column_reader(column)?) };
    let (mut frame, mut id) = (numbers(columns.frame)?, numbers(columns.id)?);
    let (mut x, mut y) = (numbers(columns.x)?, numbers(columns.y)?);
    let mut t = columns.t.map(numbers).transpose()?;
    let mut cohort =
        columns.cohort.map(|column| Names::over(group.get_column_reader(column)?)).transpose()?;
    loop {
        let count = frame.read()?;
        if count == 0 {
            return Ok(());
        }
        let mut counts = vec![id.read()?, x.read()?, y.read()?];
        counts.extend(t.as_mut().map(Numbers::read).transpose()?);
        counts.extend(cohort.as_mut().map(Names::read).transpose()?);
        if counts.iter().any(|other| *other != count) {
            return Err(Fault::content("its columns differ in length, or have gaps"));
        }
        for row in 0..count {
            let frame_number = frame.values[row] as i64;
            if let Some(t) = &t {
                run.clock(frame_number, t.values[row]);
            }
            let cohort = cohort.as_ref().map_or(0, |names| run.cohort(&names.texts[row]));
            run.push(id.values[row] as i64, frame_number, x.values[row], y.values[row], cohort)?;
        }
    }
}

/// A column of numbers of any type, as f64, portion by portion. Ids and frames up to 2^53 are exact in it.
struct Numbers {
    reader: ColumnReader,
    values: Vec<f64>,
}

impl Numbers {
    fn over(reader: ColumnReader) -> Result<Numbers, Fault> {
        match reader {
            ColumnReader::Int32ColumnReader(_)
            | ColumnReader::Int64ColumnReader(_)
            | ColumnReader::FloatColumnReader(_)
            | ColumnReader::DoubleColumnReader(_) => Ok(Numbers { reader, values: Vec::new() }),
            _ => Err(Fault::content("a column that should hold numbers does not")),
        }
    }

    fn read(&mut self) -> Result<usize, Fault> {
        macro_rules! portion {
            ($reader:expr, $convert:expr) => {{
                let mut values = Vec::new();
                let mut levels = Vec::new();
                $reader.read_records(ROWS_PER_READ, Some(&mut levels), None, &mut values)?;
                self.values.clear();
                self.values.extend(values.into_iter().map($convert));
            }};
        }
        match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) => portion!(reader, f64::from),
            ColumnReader::Int64ColumnReader(reader) => portion!(reader, |value| value as f64),
            ColumnReader::FloatColumnReader(reader) => portion!(reader, f64::from),
            ColumnReader::DoubleColumnReader(reader) => portion!(reader, |value| value),
            _ => {}
        }
        Ok(self.values.len())
    }
}

/// A column of texts, portion by portion.
struct Names {
    reader: ColumnReader,
    texts: Vec<String>,
}

impl Names {
    fn over(reader: ColumnReader) -> Result<Names, Fault> {
        match reader {
            ColumnReader::ByteArrayColumnReader(_) => Ok(Names { reader, texts: Vec::new() }),
            _ => Err(Fault::content("the column `cohort` does not hold text")),
        }
    }

    fn read(&mut self) -> Result<usize, Fault> {
        let ColumnReader::ByteArrayColumnReader(reader) = &mut self.reader else { return Ok(0) };
        let mut values = Vec::new();
        let mut levels = Vec::new();
        reader.read_records(ROWS_PER_READ, Some(&mut levels), None, &mut values)?;
        self.texts.clear();
        self.texts.extend(values.iter().map(|value| String::from_utf8_lossy(value.data()).into_owned()));
        Ok(self.texts.len())
    }
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Fault {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Fault::Io(*error),
                Err(other) => Fault::Content(other.to_string()),
            },
            other => Fault::Content(other.to_string()),
        }
    }
}
