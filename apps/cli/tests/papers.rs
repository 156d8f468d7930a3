//! `throng papers NAME --pictures DIR`: what is drawn, and what is refused.

use crate::common::Desk;

/// A page with a title and axes, and nothing on it.
const EMPTY: usize = 8_000;

fn draws(paper: &str, figures: &[u32]) {
    let desk = Desk::new();
    let answer = desk.works(&format!("papers {paper} --quick --pictures new/pictures"));
    for figure in figures {
        let name = format!("new/pictures/{paper}-figure-{figure}.png");
        assert!(answer.out.contains(&format!("{name}: ")), "no `{name}` in\n{}", answer.out);
        let png = desk.read(&name);
        assert_eq!(&png[1..4], b"PNG", "{name}");
        assert!(png.len() > EMPTY, "{name}: {} bytes", png.len());
    }
    assert_eq!(answer.out.lines().count(), figures.len(), "{}", answer.out);
    assert_eq!(std::fs::read_dir(desk.path("new/pictures")).unwrap().count(), figures.len());
}

#[test]
fn figures_of_snape_are_drawn() {
    draws("snape", &[5, 6]);
}

#[test]
fn figures_of_hybrid_are_drawn() {
    draws("hybrid", &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn figures_of_multi_domain_are_drawn() {
    draws("multi-domain", &[6, 7]);
}

#[test]
fn drawn_figures_are_listed_as_json() {
    let desk = Desk::new();
    let drawn = desk.works("papers multi-domain --quick --json --pictures .").json();
    assert_eq!(drawn.as_array().unwrap().len(), 2);
    assert!(desk.path(drawn[0]["file"].as_str().unwrap()).is_file());
    assert!(drawn[0]["shows"].as_str().unwrap().contains("one agent"));
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_runs() {
    let desk = Desk::new();
    desk.refuses(
        "papers meso --pictures .",
        "there are none of meso; there are of snape, hybrid, multi-domain",
    );
    desk.write("taken", "");
    desk.refuses("papers hybrid --pictures taken", "`taken` is a file; give a folder");
    desk.refuses("papers hybrid --pictures taken/below", "cannot write into `taken/below`");
    desk.refuses("papers --pictures .", "NAME");
    desk.refuses("papers multi-domain --scenarios --pictures .", "--pictures");
}
