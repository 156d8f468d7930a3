//! # Successive waypoints (Kapadia et al. 2013, section 6.2)
//! A plan in one domain is cut into legs, and each leg becomes a small problem of its own in another: its search is a few
//! steps deep, however far the goal.
//!
//! The paper's waypoints are the states of the coarser plan. Here they are its bends and places in between, so that no leg is
//! longer than given: a taut way has few bends, and a straight one none.
//!
//! Independent problems are not complete, as the paper says: the plan of one leg may end where the next has none. Then the waypoint
//! between both is dropped, and they are planned as one ([`Legs::join`]).

use glam::DVec2;

/// A way cut into legs.
#[derive(Clone, Debug, PartialEq)]
pub struct Legs {
    /// Bends and waypoints.
    places: Vec<DVec2>,
    /// Which of them are waypoints.
    waypoints: Vec<usize>,
}

impl Legs {
    /// Cuts a way so that no leg is longer than `longest`, m, and none much shorter where that can be.
    pub fn along(way: &[DVec2], longest: f64) -> Legs {
        let mut places: Vec<DVec2> = way.first().copied().into_iter().collect();
        let mut waypoints: Vec<usize> = (0..places.len()).collect();
        let mut left = 0.0;
        for pair in way.windows(2) {
            let length = pair[0].distance(pair[1]);
            // A bend so near to the last waypoint is passed on the way to the next one.
            let mut gone = longest - left;
            while gone < length - 1e-9 {
                waypoints.push(places.len());
                places.push(pair[0].lerp(pair[1], gone / length));
                gone += longest;
            }
            places.push(pair[1]);
            left = longest - (gone - length);
        }
        if way.len() > 1 {
            // What is left at the end is no leg of its own.
            if left < longest / 3.0 && waypoints.len() > 1 {
                waypoints.pop();
            }
            waypoints.push(places.len() - 1);
        }
        Legs { places, waypoints }
    }

    /// How many legs there are.
    pub fn len(&self) -> usize {
        self.waypoints.len().saturating_sub(1)
    }

    /// Whether there is nothing to walk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part of the way that a leg is to cover, from waypoint to waypoint.
    pub fn get(&self, leg: usize) -> Option<&[DVec2]> {
        self.waypoints.get(leg..leg + 2).map(|ends| &self.places[ends[0]..=ends[1]])
    }

    /// Makes one leg of this one and the one before. Says whether there is one before.
    pub fn join(&mut self, leg: usize) -> bool {
        let joined = leg > 0 && leg < self.len();
        if joined {
            self.waypoints.remove(leg);
        }
        joined
    }

    /// Makes one leg of this one and the one after. Says whether there is one after.
    pub fn join_next(&mut self, leg: usize) -> bool {
        self.join(leg + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_straight_way_is_cut_evenly_and_a_short_rest_is_no_leg() {
        let way = [DVec2::ZERO, DVec2::new(21.0, 0.0)];
        let legs = Legs::along(&way, 10.0);
        assert_eq!(legs.len(), 2);
        assert_eq!(legs.get(0), Some(&[DVec2::ZERO, DVec2::new(10.0, 0.0)][..]));
        // Where the next waypoint would have been, the way is still passed.
        assert_eq!(legs.get(1), Some(&[10.0, 20.0, 21.0].map(|x| DVec2::new(x, 0.0))[..]));
        assert_eq!(legs.get(2), None);
        assert!(Legs::along(&[DVec2::ONE], 10.0).is_empty());
    }

    #[test]
    fn legs_are_joined_until_there_is_one() {
        let mut legs = Legs::along(&[DVec2::ZERO, DVec2::new(30.0, 0.0)], 10.0);
        assert_eq!(legs.len(), 3);
        assert!(legs.join(2) && legs.join_next(0) && !legs.join(0) && !legs.join_next(0));
        assert_eq!(legs.get(0), Some(&[0.0, 10.0, 20.0, 30.0].map(|x| DVec2::new(x, 0.0))[..]));
    }

    proptest! {
        #[test]
        fn legs_lie_along_the_way_from_end_to_end(
            way in prop::collection::vec((0.0..50.0_f64, 0.0..50.0_f64), 2..8),
            longest in 1.0..20.0_f64,
        ) {
            let way: Vec<DVec2> = way.iter().map(|&(x, y)| DVec2::new(x, y)).collect();
            let legs = Legs::along(&way, longest);
            prop_assert_eq!(legs.get(0).unwrap()[0], way[0]);
            prop_assert_eq!(legs.get(legs.len() - 1).unwrap().last(), way.last());
            let length: f64 = way.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            prop_assert!(legs.len() as f64 <= length / longest + 1.0);
            prop_assert!(legs.len() as f64 >= length / longest - 1.0);
            for leg in 0..legs.len() {
                let covered: f64 = legs.get(leg).unwrap().windows(2).map(|pair| pair[0].distance(pair[1])).sum();
                prop_assert!(covered <= longest * 4.0 / 3.0 + 1e-6);
            }
        }
    }
}
