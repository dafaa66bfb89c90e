//! Columns as rows of a CSV file.

use csv::{Terminator, WriterBuilder};
use numpy::{PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

/// A column of one type, contiguous in memory.
enum Column<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Flag(PyReadonlyArray1<'py, bool>),
    Number(PyReadonlyArray1<'py, f64>),
    /// Whole numbers, and NaN where there is none.
    WholeOrNone(PyReadonlyArray1<'py, f64>),
    Text(Vec<PyBackedStr>),
}

/// A view of a column's values.
enum Values<'a> {
    Whole(&'a [i64]),
    Flag(&'a [bool]),
    Number(&'a [f64]),
    WholeOrNone(&'a [f64]),
    Text(&'a [PyBackedStr]),
}

impl<'py> Column<'py> {
    fn of(given: &Bound<'py, PyAny>, is_whole: bool) -> PyResult<Self> {
        if given.cast::<PyUntypedArray>().is_err() {
            return Ok(Self::Text(given.extract()?));
        }
        if let Ok(numbers) = given.extract() {
            return Ok(if is_whole { Self::WholeOrNone(numbers) } else { Self::Number(numbers) });
        }
        if let Ok(flags) = given.extract() {
            return Ok(Self::Flag(flags));
        }
        Ok(Self::Whole(given.extract()?))
    }

    fn values(&self) -> PyResult<Values<'_>> {
        Ok(match self {
            Self::Whole(of) => Values::Whole(of.as_slice()?),
            Self::Flag(of) => Values::Flag(of.as_slice()?),
            Self::Number(of) => Values::Number(of.as_slice()?),
            Self::WholeOrNone(of) => Values::WholeOrNone(of.as_slice()?),
            Self::Text(of) => Values::Text(of),
        })
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Whole(of) => of.len(),
            Self::Flag(of) => of.len(),
            Self::Number(of) | Self::WholeOrNone(of) => of.len(),
            Self::Text(of) => of.len(),
        }
    }
}

/// Return rows of a CSV file (RFC 4180, lines end in a line feed). Columns have one length and are
/// arrays of int64, bool or float64, or lists of str; `whole` says which of floating point hold
/// whole numbers. NaN is an empty cell; numbers are the shortest text that is read back the same.
#[pyfunction]
pub fn csv_rows<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyAny>>,
    whole: Vec<bool>,
) -> PyResult<Bound<'py, PyBytes>> {
    let pairs = columns.iter().zip(whole);
    let columns = pairs.map(|(of, is_whole)| Column::of(of, is_whole));
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let values = columns.iter().map(Column::values).collect::<PyResult<Vec<_>>>()?;
    let rows = values.first().map_or(0, Values::len);
    if values.iter().any(|of| of.len() != rows) {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let text = written(&values, rows).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &text))
}

fn written(columns: &[Values<'_>], rows: usize) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let lines = Terminator::Any(b'\n');
    let mut out = WriterBuilder::new().terminator(lines).from_writer(Vec::new());
    let (mut whole, mut number) = (itoa::Buffer::new(), ryu::Buffer::new());
    for row in 0..rows {
        for column in columns {
            match column {
                Values::Whole(of) => out.write_field(whole.format(of[row]))?,
                Values::Flag(of) => out.write_field(if of[row] { "true" } else { "false" })?,
                Values::Number(of) | Values::WholeOrNone(of) if of[row].is_nan() => {
                    out.write_field("")?;
                }
                Values::Number(of) => out.write_field(number.format(of[row]))?,
                Values::WholeOrNone(of) => out.write_field(whole.format(of[row] as i64))?,
                Values::Text(of) => out.write_field(of[row].as_bytes())?,
            }
        }
        out.write_record(None::<&[u8]>)?;
    }
    Ok(out.into_inner()?)
}
