//! SQLite as JuPedSim 1.1 to 1.4 writes it (version 2), which PedPy reads.
//!
//! What JuPedSim does not know stands beside it: the metadata key `throng_run` holds a [`RunInfo`] as JSON, and where bodies walk on
//! feet a table `footprints` says when and where each was put down.

use super::error::Fault;
use super::geometry::Geometry;
use super::read::{Builder, FootprintRow, GeometrySpan};
use super::{RecordPosition, Row, Rows, RunInfo, Sink};
use crate::frame::Frame;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use throng_core::world::{Planted, Side};

const SCHEMA: &str = "
CREATE TABLE trajectory_data (
    frame INTEGER NOT NULL,
    id INTEGER NOT NULL,
    pos_x REAL NOT NULL,
    pos_y REAL NOT NULL,
    ori_x REAL NOT NULL,
    ori_y REAL NOT NULL);
CREATE TABLE metadata (key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE geometry (hash INTEGER NOT NULL, wkt TEXT NOT NULL);
CREATE TABLE frame_data (frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL);
CREATE INDEX frame_id_idx ON trajectory_data (frame, id);
CREATE UNIQUE INDEX geometry_hash ON geometry (hash);
";

/// Made with the first footprint: most runs have none. `side` is `left` or `right`, `(ori_x, ori_y)` points from heel to toe.
const FOOTPRINTS: &str = "
CREATE TABLE IF NOT EXISTS footprints (
    id INTEGER NOT NULL,
    time REAL NOT NULL,
    pos_x REAL NOT NULL,
    pos_y REAL NOT NULL,
    ori_x REAL NOT NULL,
    ori_y REAL NOT NULL,
    side TEXT NOT NULL);
";

/// A database being written. A transaction is always open; saving commits it and opens the next.
pub(super) struct Sqlite {
    db: Connection,
    geometry_hash: i64,
    bounds: Bounds,
    /// Unit vector by id; zero for those not seen yet.
    heading: Vec<[f32; 2]>,
    goals: Vec<[f64; 2]>,
}

/// Slower than this an agent stands, and keeps looking where it looked, m/s.
const STANDING_SPEED: f32 = 1e-3;

impl Sqlite {
    pub(super) fn create(path: &Path, info: &RunInfo, fps: f64) -> Result<Sqlite, Fault> {
        remove_leftovers(path);
        // Through the system first: its errors are clearer than SQLite's "unable to open database file".
        File::create(path)?;
        let mut sink = Sqlite::over(open_for_writing(path)?, info);
        sink.db.execute_batch(SCHEMA)?;
        sink.set_metadata("version", "2")?;
        sink.set_metadata("fps", &format!("{fps:?}"))?;
        sink.set_metadata("throng_run", &serde_json::to_string(info).unwrap_or_default())?;
        sink.geometry(&info.geometry_wkt)?;
        sink.save()?;
        Ok(sink)
    }

    pub(super) fn resume(path: &Path, info: &RunInfo, position: &RecordPosition) -> Result<Sqlite, Fault> {
        File::options().read(true).write(true).open(path)?;
        let mut sink = Sqlite::over(open_for_writing(path)?, info);
        sink.check_same_run(info)?;
        sink.cut_after(position)?;
        sink.recall()?;
        sink.geometry_hash = position.geometry_hash;
        sink.save()?;
        Ok(sink)
    }

    fn over(db: Connection, info: &RunInfo) -> Sqlite {
        Sqlite {
            db,
            geometry_hash: 0,
            bounds: Bounds::default(),
            heading: Vec::new(),
            goals: info.goals.clone(),
        }
    }

    fn check_same_run(&self, info: &RunInfo) -> Result<(), Fault> {
        let written: Option<String> = metadata(&self.db, "throng_run")?;
        if written == serde_json::to_string(info).ok() {
            return Ok(());
        }
        Err(Fault::content("it tells of another run; give the checkpoint's own file"))
    }

    fn cut_after(&mut self, position: &RecordPosition) -> Result<(), Fault> {
        self.db.execute("DELETE FROM trajectory_data WHERE frame >= ?", [position.frames as i64])?;
        self.db.execute("DELETE FROM frame_data WHERE frame >= ?", [position.frames as i64])?;
        self.db.execute("DELETE FROM geometry WHERE rowid > ?", [position.geometries as i64])?;
        if has_table(&self.db, "footprints")? {
            self.db.execute("DELETE FROM footprints WHERE rowid > ?", [position.footprints as i64])?;
        }
        let count = |table: &str| -> Result<i64, Fault> {
            Ok(self.db.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0))?)
        };
        let (rows, frames) = (count("trajectory_data")?, count("frame_data")?);
        if (rows, frames) != (position.rows as i64, position.frames as i64) {
            return Err(Fault::Content(format!(
                "it has {frames} frames and {rows} rows, and had {} and {} at the checkpoint; \
                 give the file that belongs to it",
                position.frames, position.rows
            )));
        }
        Ok(())
    }

    /// Reads back what a recorder remembers from row to row.
    fn recall(&mut self) -> Result<(), Fault> {
        let extent = "SELECT MIN(pos_x), MAX(pos_x), MIN(pos_y), MAX(pos_y) FROM trajectory_data";
        let corners = self.db.query_row(extent, [], |row| {
            Ok([[row.get(0)?, row.get(2)?], [row.get(1)?, row.get(3)?]] as [[Option<f64>; 2]; 2])
        })?;
        for corner in corners {
            if let [Some(x), Some(y)] = corner {
                self.bounds.add([x, y]);
            }
        }
        for wkt in geometries(&self.db)? {
            self.bounds.add_geometry(&wkt);
        }
        // SQLite takes the bare columns from the row that holds the maximum.
        let mut query =
            self.db.prepare("SELECT id, ori_x, ori_y, MAX(frame) FROM trajectory_data GROUP BY id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let heading = [row.get::<_, f64>(1)? as f32, row.get::<_, f64>(2)? as f32];
            *slot(&mut self.heading, row.get(0)?) = heading;
        }
        Ok(())
    }

    fn set_metadata(&self, key: &str, value: &str) -> Result<(), Fault> {
        self.db.prepare_cached("INSERT OR REPLACE INTO metadata VALUES (?, ?)")?.execute([key, value])?;
        Ok(())
    }

    fn write_bounds(&self) -> Result<(), Fault> {
        let Bounds { low, high } = self.bounds.or_zero();
        for (key, value) in [("xmin", low[0]), ("xmax", high[0]), ("ymin", low[1]), ("ymax", high[1])] {
            self.set_metadata(key, &format!("{value:?}"))?;
        }
        Ok(())
    }
}

impl Sink for Sqlite {
    fn frame(&mut self, rows: &Rows<'_>) -> Result<(), Fault> {
        let number = rows.number as i64;
        self.db
            .prepare_cached("INSERT INTO frame_data VALUES (?, ?)")?
            .execute([number, self.geometry_hash])?;
        let mut insert = self.db.prepare_cached("INSERT INTO trajectory_data VALUES (?, ?, ?, ?, ?, ?)")?;
        for row in rows.iter() {
            let [ori_x, ori_y] = heading(&mut self.heading, &self.goals, &row);
            insert.execute(params![number, row.id, row.x, row.y, f64::from(ori_x), f64::from(ori_y)])?;
            self.bounds.add([row.x, row.y]);
        }
        Ok(())
    }

    fn footprints(&mut self, frame: &Frame<'_>) -> Result<(), Fault> {
        self.db.prepare_cached(FOOTPRINTS)?.execute([])?;
        let mut insert = self.db.prepare_cached("INSERT INTO footprints VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        for Planted { id, foot } in frame.planted {
            let (at, along) = (frame.origin + foot.at, foot.along);
            let side = if foot.side == Side::Left { "left" } else { "right" };
            insert.execute(params![id, foot.since, at.x, at.y, along.x, along.y, side])?;
        }
        Ok(())
    }

    fn geometry(&mut self, wkt: &str) -> Result<(), Fault> {
        self.geometry_hash = hash(wkt);
        self.bounds.add_geometry(wkt);
        self.db
            .prepare_cached("INSERT OR IGNORE INTO geometry VALUES (?, ?)")?
            .execute(params![self.geometry_hash, wkt])?;
        Ok(())
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.write_bounds()?;
        self.db.execute_batch("COMMIT; BEGIN")?;
        Ok(())
    }

    fn locate(&mut self, position: &mut RecordPosition) -> Result<(), Fault> {
        position.geometry_hash = self.geometry_hash;
        position.geometries =
            self.db.query_row("SELECT COUNT(*) FROM geometry", [], |row| row.get::<_, i64>(0))? as u64;
        if has_table(&self.db, "footprints")? {
            let count = "SELECT COUNT(*) FROM footprints";
            position.footprints = self.db.query_row(count, [], |row| row.get::<_, i64>(0))? as u64;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.write_bounds()?;
        self.db.execute_batch("COMMIT")?;
        Ok(())
    }
}

/// Opens a database with a transaction begun.
///
/// `synchronous = OFF` leaves it to the system when blocks reach the disk: safe against our own death, and ten times
/// as fast. Only a power cut can hurt.
fn open_for_writing(path: &Path) -> Result<Connection, Fault> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    db.execute_batch("PRAGMA synchronous = OFF; BEGIN")?;
    Ok(db)
}

/// A journal that a killed run left would be played back into the new file.
fn remove_leftovers(path: &Path) {
    for suffix in ["-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // Mostly there is none.
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

/// Where an agent looks: along its velocity; standing, where it looked last; at first, towards its goal.
fn heading(memory: &mut Vec<[f32; 2]>, goals: &[[f64; 2]], row: &Row) -> [f32; 2] {
    let slot = slot(memory, row.id);
    let speed = row.vx.hypot(row.vy);
    if speed > STANDING_SPEED {
        *slot = [row.vx / speed, row.vy / speed];
    } else if *slot == [0.0; 2] {
        *slot = goals.get(row.id as usize).map_or([1.0, 0.0], |goal| towards([row.x, row.y], *goal));
    }
    *slot
}

fn towards(from: [f64; 2], to: [f64; 2]) -> [f32; 2] {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let distance = dx.hypot(dy);
    if distance > 1e-6 { [(dx / distance) as f32, (dy / distance) as f32] } else { [1.0, 0.0] }
}

fn slot(memory: &mut Vec<[f32; 2]>, id: u32) -> &mut [f32; 2] {
    let id = id as usize;
    if id >= memory.len() {
        memory.resize(id + 1, [0.0; 2]);
    }
    &mut memory[id]
}

/// FNV-1a, 64 bits: stable over versions and machines, which the standard library's hash is not.
fn hash(text: &str) -> i64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash.cast_signed()
}

/// The box round all geometries and all positions.
#[derive(Clone, Copy)]
struct Bounds {
    low: [f64; 2],
    high: [f64; 2],
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] }
    }
}

impl Bounds {
    fn add(&mut self, point: [f64; 2]) {
        for ((low, high), value) in self.low.iter_mut().zip(&mut self.high).zip(point) {
            *low = low.min(value);
            *high = high.max(value);
        }
    }

    fn add_geometry(&mut self, wkt: &str) {
        // A text that is no WKT is the caller's to keep; it has no extent.
        for point in Geometry::parse(wkt).unwrap_or_default().points() {
            self.add(point);
        }
    }

    fn or_zero(self) -> Bounds {
        if self.low[0] <= self.high[0] { self } else { Bounds { low: [0.0; 2], high: [0.0; 2] } }
    }
}

pub(super) fn read(path: &Path, run: &mut Builder) -> Result<(), Fault> {
    // SQLite would create a missing file, and then find it empty.
    File::open(path)?;
    // Writable, because a killed run's journal must be played back first; SQLite makes do with less where it has to.
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    need_tables(&db)?;
    let fps: Option<String> = metadata(&db, "fps")?;
    run.fps = fps.and_then(|fps| fps.trim().parse().ok());
    if let Some(info) = metadata::<String>(&db, "throng_run")? {
        run.info_json(&info);
    }
    run.geometry = geometry_spans(&db)?;
    run.footprints = footprints(&db)?;
    read_rows(&db, run)
}

fn need_tables(db: &Connection) -> Result<(), Fault> {
    for table in ["trajectory_data", "metadata"] {
        if !has_table(db, table)? {
            return Err(Fault::Content(format!("it has no table `{table}`, so JuPedSim's format it is not")));
        }
    }
    Ok(())
}

fn has_table(db: &Connection, table: &str) -> Result<bool, Fault> {
    let query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
    Ok(db.query_row(query, [table], |_| Ok(())).optional()?.is_some())
}

fn footprints(db: &Connection) -> Result<Vec<FootprintRow>, Fault> {
    if !has_table(db, "footprints")? {
        return Ok(Vec::new());
    }
    let mut query =
        db.prepare("SELECT id, time, pos_x, pos_y, ori_x, ori_y, side FROM footprints ORDER BY rowid")?;
    let mut prints = Vec::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        prints.push(FootprintRow {
            id: row.get(0)?,
            time: row.get(1)?,
            at: [row.get(2)?, row.get(3)?],
            along: [row.get(4)?, row.get(5)?],
            left: row.get::<_, String>(6)? == "left",
        });
    }
    Ok(prints)
}

fn read_rows(db: &Connection, run: &mut Builder) -> Result<(), Fault> {
    let mut query = db.prepare("SELECT id, frame, pos_x, pos_y FROM trajectory_data")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        run.push(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, 0)?;
    }
    Ok(())
}

fn metadata<T: rusqlite::types::FromSql>(db: &Connection, key: &str) -> Result<Option<T>, Fault> {
    // JuPedSim's writers differ in whether a number is stored as one.
    let query = "SELECT CAST(value AS TEXT) FROM metadata WHERE key = ?";
    Ok(db.query_row(query, [key], |row| row.get(0)).optional()?)
}

fn geometries(db: &Connection) -> Result<Vec<String>, Fault> {
    let mut query = db.prepare("SELECT wkt FROM geometry ORDER BY rowid")?;
    let texts = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(texts)
}

/// Version 1 has one geometry and no `frame_data`; version 2 says for each frame which one it is.
fn geometry_spans(db: &Connection) -> Result<Vec<GeometrySpan>, Fault> {
    let version: Option<String> = metadata(db, "version")?;
    if version.as_deref() == Some("1") {
        let texts = geometries(db)?;
        return Ok(texts.into_iter().take(1).map(|wkt| GeometrySpan { from_frame: 0, wkt }).collect());
    }
    let mut spans: Vec<GeometrySpan> = Vec::new();
    let mut query = db.prepare(
        "SELECT frame, wkt FROM frame_data JOIN geometry ON geometry_hash = hash ORDER BY frame, geometry.rowid",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let wkt = row.get_ref(1)?.as_str().map_err(|error| Fault::Content(error.to_string()))?;
        if spans.last().is_none_or(|last| last.wkt != wkt) {
            let from_frame = row.get::<_, i64>(0)?.clamp(0, i64::from(u32::MAX)) as u32;
            spans.push(GeometrySpan { from_frame, wkt: wkt.to_owned() });
        }
    }
    Ok(spans)
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io::ErrorKind::PermissionDenied,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                return Fault::content("another program keeps it locked; close that program");
            }
            Some(ErrorCode::NotADatabase) => return Fault::content("it is not an SQLite file"),
            _ => return Fault::Content(error.to_string()),
        };
        Fault::Io(io::Error::new(kind, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash("foobar").cast_unsigned(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_full_disk_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.sqlite");
        let sink = Sqlite::create(&path, &RunInfo::default(), 10.0).unwrap();
        sink.db.execute_batch("COMMIT; PRAGMA max_page_count = 12; BEGIN").unwrap();
        let fill = || (0..100_000).try_for_each(|n| sink.set_metadata(&n.to_string(), "full"));
        let message = fill().unwrap_err().on_write(&path).to_string();
        assert!(message.contains("the disk is full; free some space"), "{message}");
    }
}
