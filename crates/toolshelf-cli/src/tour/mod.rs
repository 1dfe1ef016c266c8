//! x
use crate::arguments::TourArguments;
use crate::failure::Failure;
use crate::output::Output;
pub(crate) async fn run(_arguments: &TourArguments, _output: &Output) -> Result<(), Failure> {
    Ok(())
}
