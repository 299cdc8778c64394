use super::input::Input;
use super::{MetricError, jain_index, mean, rates};

/// The mean over the samples of the index of the streams that are active at each.
pub(super) fn instantaneous(input: &Input<'_>) -> Result<f64, MetricError> {
    let each: Vec<Vec<f64>> = input
        .streams
        .iter()
        .map(|stream| rates::series(input, stream, false))
        .collect::<Result<_, _>>()?;
    let at = |index: usize| {
        let active: Vec<f64> =
            each.iter().map(|rates| rates[index]).filter(|rate| !rate.is_nan()).collect();
        Some(jain_index(&active)).filter(|index| !index.is_nan())
    };
    let indices: Vec<f64> = (0..input.samples().len()).filter_map(at).collect();
    Ok(mean(&indices))
}

pub(super) fn of_means(input: &Input<'_>) -> Result<f64, MetricError> {
    let each: Vec<f64> = input
        .streams
        .iter()
        .map(|stream| Ok(mean(&known(rates::series(input, stream, false)?))))
        .collect::<Result<_, MetricError>>()?;
    Ok(jain_index(&each))
}

/// The highest of the streams' mean received rates divided by the lowest.
pub(super) fn ratio(input: &Input<'_>) -> Result<f64, MetricError> {
    let received = |stream| rates::received(&Input { streams: vec![stream], ..*input });
    let each: Vec<f64> =
        input.streams.iter().map(|stream| received(*stream)).collect::<Result<_, MetricError>>()?;
    let highest = each.iter().copied().fold(f64::NAN, f64::max);
    Ok(highest / each.iter().copied().fold(f64::NAN, f64::min))
}

/// The share of the first stream over the whole window. A stream that is not active receives
/// nothing.
pub(super) fn share(input: &Input<'_>) -> Result<f64, MetricError> {
    let received = |stream| rates::received(&Input { streams: vec![stream], ..*input });
    let each: Vec<f64> =
        input.streams.iter().map(|stream| received(*stream)).collect::<Result<_, MetricError>>()?;
    let first = each.first().ok_or(MetricError::StreamsMissing)?;
    Ok(first / each.iter().sum::<f64>())
}

fn known(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().filter(|value| !value.is_nan()).collect()
}
