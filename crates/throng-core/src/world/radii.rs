//! The radii that paths are planned for.

use super::World;

/// So few radii are all planned for, however near to one another they are.
const FEW_RADII: usize = 8;
/// How much wider than its narrowest member a class may be, as a factor. An agent that would pass a door with less than that to
/// spare may find it closed; people from 0.2 to 0.3 m fall into seven classes, and each costs a graph.
pub const WIDEST_CLASS: f32 = 1.06;

/// The radii that paths are planned for: every radius there is where they are few. Else classes, each as wide as its widest
/// member and not wider than its narrowest by more than a factor. How many there are follows from how often the range of radii doubles and
/// not from how many agents have which, so no agent is planned for as if it were much wider than it is.
pub fn radius_classes(radius: &[f32], widest: f32) -> Vec<f32> {
    let mut radii = radius.to_vec();
    radii.sort_unstable_by(f32::total_cmp);
    radii.dedup();
    if radii.len() <= FEW_RADII {
        return radii;
    }
    let mut classes = Vec::new();
    let mut rest = &radii[..];
    while let Some(&narrowest) = rest.first() {
        // One member at least, also where a radius is no number.
        let members = rest.partition_point(|&radius| radius <= narrowest * widest).max(1);
        classes.push(rest[members - 1]);
        rest = &rest[members..];
    }
    classes
}

impl World {
    /// Lets paths be planned for bodies of a radius: as a class of its own where there are few, else with some to spare.
    pub fn plan_for_radius(&mut self, radius: f32) {
        let classes = &mut self.radius_classes;
        let next = classes.partition_point(|&class| class < radius);
        let few = classes.len() < FEW_RADII;
        let fits = |&class: &f32| if few { class == radius } else { class <= radius * WIDEST_CLASS };
        if !classes.get(next).is_some_and(fits) {
            // With some to spare, so that radii which grow by and by do not each get a class.
            classes.insert(next, if few { radius } else { radius * WIDEST_CLASS });
        }
    }

    /// Works out the radii that paths are planned for from those of all agents that are present.
    pub fn classify_radii(&mut self) {
        self.radius_classes = radius_classes(&self.agents.radius, WIDEST_CLASS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class that a radius is planned for.
    fn planned(classes: &[f32], radius: f32) -> f32 {
        classes[classes.partition_point(|&class| class < radius)]
    }

    #[test]
    fn few_radii_are_all_kept() {
        assert_eq!(radius_classes(&[0.3, 0.2, 0.3], WIDEST_CLASS), [0.2, 0.3]);
        assert_eq!(radius_classes(&[0.300, 0.301, 0.302], WIDEST_CLASS).len(), 3);
        assert!(radius_classes(&[], WIDEST_CLASS).is_empty());
    }

    #[test]
    fn nobody_among_many_is_planned_for_as_if_much_wider() {
        let people = (0..=100).map(|i| 0.2 + 0.001 * i as f32);
        let radii: Vec<f32> = people.clone().chain([1.0]).collect();
        let classes = radius_classes(&radii, WIDEST_CLASS);
        assert!(classes.is_sorted() && classes.len() <= 8, "{classes:?}");
        for radius in radii {
            let planned = planned(&classes, radius);
            assert!((radius..=1.06 * radius).contains(&planned), "{radius} planned as {planned}");
        }
        assert_eq!(radius_classes(&people.collect::<Vec<f32>>(), WIDEST_CLASS), classes[..classes.len() - 1]);
    }

    #[test]
    fn classes_follow_the_range_of_radii_and_not_their_number() {
        let count = |agents: u32| {
            let radius = |i: u32| 0.1 * 100f32.powf(i as f32 / agents as f32);
            radius_classes(&(0..=agents).map(radius).collect::<Vec<f32>>(), WIDEST_CLASS).len()
        };
        // The range is a hundredfold: 2 / log10(1.06) classes.
        assert!(count(1_000) <= 80 && count(30_000) <= 80);
    }
}
