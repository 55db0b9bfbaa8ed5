//! Deadlines of requests.

use crate::wire::responsibility_state::SlaClass;

/// A time window: its start and its length, in seconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Window {
    /// Start, in seconds since 1970.
    pub start: i64,
    /// Length in seconds.
    pub seconds: i64,
}

impl Window {
    /// Returns the window of a start and a length, if both are known and the length is positive.
    pub fn new(start: Option<i64>, seconds: Option<i64>) -> Option<Window> {
        let (start, seconds) = (start?, seconds?);
        (seconds > 0).then_some(Window { start, seconds })
    }

    /// Returns the deadline.
    pub fn end(&self) -> i64 {
        self.start.saturating_add(self.seconds)
    }

    /// Returns the state of the deadline: at risk from 80 % of the window on, breached after it.
    pub fn class(&self, now: i64) -> SlaClass {
        let elapsed = i128::from(now) - i128::from(self.start);
        if now > self.end() {
            SlaClass::Breached
        } else if elapsed * 100 >= i128::from(self.seconds) * 80 {
            SlaClass::AtRisk
        } else {
            SlaClass::OnTrack
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_at_risk_from_80_percent_and_breached_after_its_end() {
        let window = Window { start: 1_000, seconds: 100 };
        let class = |elapsed: i64| window.class(1_000 + elapsed);
        assert_eq!(class(-5), SlaClass::OnTrack);
        assert_eq!(class(79), SlaClass::OnTrack);
        assert_eq!(class(80), SlaClass::AtRisk);
        assert_eq!(class(100), SlaClass::AtRisk);
        assert_eq!(class(101), SlaClass::Breached);
        assert_eq!(Window::new(Some(0), Some(0)), None);
        assert_eq!(Window { start: 0, seconds: i64::MAX }.class(i64::MAX), SlaClass::AtRisk);
    }
}
