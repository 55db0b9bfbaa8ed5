//! Fits texts whose tokens are counted already, and lists, into a budget.

/// Chooses a level for each document so that all fit the budget: first the lowest level of each, in
/// order, then one level more for each while the budget lasts. `costs` are the tokens of each level,
/// lowest first. Returns the index of the level; `None` if not even the lowest fits.
pub fn fit_levels(costs: &[Vec<u64>], budget: u64) -> Vec<Option<usize>> {
    let mut rest = budget;
    let mut chosen: Vec<Option<usize>> = Vec::new();
    for costs in costs {
        let after = rest.checked_sub(costs[0]);
        rest = after.unwrap_or(rest);
        chosen.push(after.map(|_| 0));
    }
    for level in 1..costs.iter().map(Vec::len).max().unwrap_or(0) {
        for (costs, chosen) in costs.iter().zip(&mut chosen) {
            let Some(below) = chosen.filter(|_| level < costs.len()) else { continue };
            // A longer text may take fewer tokens than the level below.
            let extra = costs[level].saturating_sub(costs[below]);
            if extra <= rest {
                rest -= extra;
                *chosen = Some(level);
            }
        }
    }
    chosen
}

/// Renders a list with as many of `n` entries as fit the budget, and returns it with its tokens.
/// `render` gets a number of entries; `fewer` returns the next smaller number to try. A list without
/// entries is returned even if it does not fit.
pub fn fit_list<T: ToString>(
    mut n: usize,
    budget: u64,
    fewer: impl Fn(usize) -> usize,
    render: impl Fn(usize) -> T,
) -> (T, u64) {
    loop {
        let list = render(n);
        let n_tokens = super::tokens::count(&list.to_string());
        if n_tokens <= budget || n == 0 {
            return (list, n_tokens);
        }
        n = fewer(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_gets_its_lowest_level_before_any_gets_more() {
        let costs = [vec![2, 10, 50], vec![2, 10, 50]];
        assert_eq!(fit_levels(&costs, 1_000), [Some(2), Some(2)]);
        assert_eq!(fit_levels(&costs, 70), [Some(2), Some(1)]);
        assert_eq!(fit_levels(&costs, 24), [Some(1), Some(1)]);
        assert_eq!(fit_levels(&costs, 3), [Some(0), None]);
        for budget in 0..130 {
            let chosen = fit_levels(&costs, budget);
            let n_tokens: u64 =
                chosen.iter().zip(&costs).filter_map(|(level, costs)| Some(costs[(*level)?])).sum();
            assert!(n_tokens <= budget);
        }
    }
}
