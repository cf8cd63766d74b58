//! Archive files and the files beside them: their names, their records, their checksums, and positions in them.

pub(crate) mod checkpoint;
pub(crate) mod copy;
pub(crate) mod directory;
pub(crate) mod fetch_record;
pub(crate) mod journal;
pub(crate) mod name;
pub(crate) mod scan;
pub(crate) mod sums;
pub(crate) mod survey;
