//! The interval of a ratio from how starts of a program differ.
//!
//! Calls within a start do not show that: a start keeps its place in memory and among the
//! processors. So the sample is a number for each start, its median.

/// Fewer starts say too little about how starts differ.
pub(super) const FEWEST: usize = 3;

/// The numbers that 97.5 % of Student's t distribution are below, from one degree of freedom on.
// The last one is used for more degrees, too: it makes an interval wider, and not too narrow.
const STUDENT_T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Both ends of the interval of 95 %: Welch's, of the logarithms, because starts differ by factors.
/// A bootstrap would draw from so few numbers that its interval were a quarter too narrow.
pub(super) fn interval(earlier: Vec<f64>, later: Vec<f64>) -> [f64; 2] {
    let [earlier, later] = [earlier, later].map(LogMean::new);
    let error = earlier.squared_error + later.squared_error;
    let difference = later.mean - earlier.mean;
    let half = student_t(error.powi(2) / (earlier.spread() + later.spread())) * error.sqrt();
    [(difference - half).exp(), (difference + half).exp()]
}

/// The mean of logarithms.
struct LogMean {
    mean: f64,
    /// Of the mean.
    squared_error: f64,
    freedom: f64,
}

impl LogMean {
    /// Of at least two times.
    fn new(times: Vec<f64>) -> Self {
        let (count, freedom) = (times.len() as f64, times.len() as f64 - 1.0);
        let logarithms: Vec<f64> = times.into_iter().map(f64::ln).collect();
        let mean = logarithms.iter().sum::<f64>() / count;
        let squares: f64 = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
        Self {
            mean,
            // The variance of a mean: of the times as a sample, divided by their number.
            squared_error: squares / freedom / count,
            freedom,
        }
    }

    /// Its part of the formula of Welch and Satterthwaite for the degrees of freedom.
    fn spread(&self) -> f64 {
        self.squared_error.powi(2) / self.freedom
    }
}

/// Degrees between two whole numbers count as the smaller one, with the wider interval; none, of
/// starts that are all alike, as one.
fn student_t(degrees: f64) -> f64 {
    // Starts without any spread have 0 / 0 degrees: `max` replaces NaN by 1.
    let degrees = degrees.max(1.0) as usize;
    STUDENT_T[degrees.min(STUDENT_T.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn the_interval_is_the_one_of_the_formula() {
        // Logarithms 0, 1, 2 and 2, 3, 4: means 1 and 3, both with the variance 1, so four degrees
        // of freedom and 2.776 * sqrt(2 / 3) on both sides.
        let powers = |exponents: [i32; 3]| exponents.map(|it| 1f64.exp().powi(it)).to_vec();
        let [low, high] = interval(powers([0, 1, 2]), powers([2, 3, 4])).map(f64::ln);
        let half = 2.776 * (2f64 / 3.0).sqrt();
        assert!((low - (2.0 - half)).abs() < 1e-9 && (high - (2.0 + half)).abs() < 1e-9);
    }

    #[test]
    fn starts_without_noise_have_an_interval_without_width() {
        assert_eq!(interval(vec![2.0; 3], vec![2.0; 4]), [1.0, 1.0]);
    }
}
