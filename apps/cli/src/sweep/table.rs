//! What a sweep found, as a table for people.

use super::grid::{Grid, Value};
use super::row::{Row, finished, simulated_s};
use crate::findings;
use crate::statistics::{deviation, mean};
use crate::summary::count;

/// A table wider than this wraps on most screens, and lists serve better.
const WIDEST: usize = 160;

/// The table; rows in grid order.
pub fn text(grid: &Grid, rows: &[Row]) -> String {
    let cells: Vec<String> = rows.chunks(grid.seeds.len()).map(cell).collect();
    let figure = match grid.seeds.len() {
        1 => "time until all have arrived, s".to_owned(),
        seeds => {
            format!("time until all have arrived, s: mean ± standard deviation over {}", count(seeds, "seed"))
        }
    };
    let wide = matrix(grid, &cells).filter(|text| text.lines().all(|line| line.chars().count() <= WIDEST));
    format!("{figure}\n\n{}", wide.unwrap_or_else(|| list(grid, &cells)))
}

/// The runs of a combination: a mean only where all of them arrived, or it would be one of the fast ones alone.
fn cell(runs: &[Row]) -> String {
    let times: Vec<f64> = runs.iter().filter(|run| finished(run)).filter_map(simulated_s).collect();
    let mean_time = findings::number(Some(mean(&times)));
    let decimals = mean_time.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match (times.len(), runs.len()) {
        (0, _) => "N/A".into(),
        (some, all) if some < all => format!("N/A ({some} of {all} finished)"),
        (1, _) => mean_time,
        _ => format!("{mean_time} ± {:.decimals$}", deviation(&times)),
    }
}

/// One key: a column for each value. Two: the first key's values down, the second's across.
fn matrix(grid: &Grid, cells: &[String]) -> Option<String> {
    let (title, down, across) = match &grid.axes[..] {
        [across] => (across.key.clone(), vec![String::new()], across),
        [down, across] => {
            (format!("{} ↓  {} →", down.key, across.key), down.values.iter().map(shown).collect(), across)
        }
        _ => return None,
    };
    let header: Vec<String> = [title].into_iter().chain(across.values.iter().map(shown)).collect();
    let lines = down.into_iter().zip(cells.chunks(across.values.len()));
    let lines: Vec<Vec<String>> = lines.map(|(name, cells)| [&[name], cells].concat()).collect();
    Some(findings::table(1, &header.iter().map(String::as_str).collect::<Vec<_>>(), &lines))
}

/// One line for each combination.
pub fn list(grid: &Grid, cells: &[String]) -> String {
    let keys = grid.axes.iter().map(|axis| axis.key.as_str());
    let line = |(combination, cell): (usize, &String)| {
        let values = grid.combination(combination).into_iter().map(shown);
        values.chain([cell.clone()]).collect::<Vec<String>>()
    };
    let lines: Vec<Vec<String>> = cells.iter().enumerate().map(line).collect();
    let text = findings::table(grid.axes.len(), &keys.chain([""]).collect::<Vec<_>>(), &lines);
    // Without a key there is nothing in the header.
    text.trim_start_matches('\n').to_owned()
}

fn shown(value: &Value) -> String {
    if value.cell.is_empty() { "\"\"".into() } else { value.cell.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::grid::axis;
    use super::*;
    use throng::scenario::Overrides;

    fn run(time: f64, arrived: bool) -> Row {
        let cells = [("simulated_s", time.to_string()), ("finished", arrived.to_string())];
        cells.map(|(name, cell)| (name.to_owned(), cell)).into()
    }

    fn grid(over: &[&str], seeds: u64) -> Grid {
        let axes = over.iter().map(|text| axis(text).unwrap()).collect();
        Grid::new(axes, (1..=seeds).collect(), &Overrides::default()).unwrap()
    }

    #[test]
    fn a_cell_is_a_mean_only_where_all_arrived() {
        assert_eq!(cell(&[run(30.0, true)]), "30.0");
        assert_eq!(cell(&[run(30.0, true), run(34.0, true)]), "32.0 ± 2.8");
        assert_eq!(cell(&[run(30.0, true), run(60.0, false)]), "N/A (1 of 2 finished)");
        assert_eq!(cell(&[run(60.0, false), run(60.0, false)]), "N/A");
    }

    #[test]
    fn one_key_goes_across_and_two_make_a_matrix() {
        let rows: Vec<Row> = (1..=6).map(|number| run(f64::from(number), number != 5)).collect();
        let one = text(&grid(&["a=x,y,z"], 2), &rows);
        let figures = "  a            x            y                      z\n     1.50 ± 0.71  3.50 ± 0.71  N/A (1 of 2 finished)\n";
        assert!(one.ends_with(figures), "{one}");
        let two = text(&grid(&["a=x,y,z", "b=1,2"], 1), &rows);
        assert_eq!(
            two,
            "time until all have arrived, s\n\n  a ↓  b →     1     2\n  x         1.00  2.00\n  y         \
             3.00  4.00\n  z          N/A  6.00\n"
        );
        let three = text(&grid(&["a=x,y,z", "b=1,2", "c=0"], 1), &rows);
        assert!(three.contains("\n  a  b  c\n  x  1  0  1.00\n  x  2  0  2.00\n"), "{three}");
    }

    #[test]
    fn a_matrix_that_no_screen_holds_becomes_a_list() {
        let many: Vec<String> = (0..60).map(|number| number.to_string()).collect();
        let rows: Vec<Row> = (0..60).map(|_| run(100.0, true)).collect();
        let text = text(&grid(&[&format!("a={}", many.join(","))], 1), &rows);
        assert!(text.contains("\n  59  100.0\n"), "{text}");
    }
}
