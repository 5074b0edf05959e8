//! Independent verification of the work: the amount that a trial claims and the amount that is
//! proved.

use proofmark_model::{Account, DeviceTraffic, FileState, NetworkTraffic};

/// The account of a trial: from interfaces or devices if they carried the work, else its own.
pub(crate) fn verified(
    own: Account,
    network: Option<&NetworkTraffic>,
    file: Option<&FileState>,
    device: Option<&DeviceTraffic>,
) -> Account {
    match (network, file) {
        (Some(n), _) => {
            let taken_in = [&n.client, &n.server].map(|end| end.in_bytes.unwrap_or(0));
            let counted = taken_in.iter().sum::<u64>() as f64;
            Account { claimed: n.received_bytes as f64, counted }
        }
        (None, Some(file)) => on_disk(file, device),
        (None, None) => own,
    }
}

/// The account of a file. Bytes written while a file was only read are not its work, and vice
/// versa.
fn on_disk(file: &FileState, device: Option<&DeviceTraffic>) -> Account {
    let [asked_read, asked_written] = [file.asked_read_bytes, file.asked_written_bytes];
    let moved = device.map_or([0, 0], |d| [d.read_bytes, d.written_bytes]);
    let counted = |asked: u64, moved: u64| if asked > 0 { moved as f64 } else { 0.0 };
    Account {
        claimed: (asked_read + asked_written) as f64,
        counted: counted(asked_read, moved[0]) + counted(asked_written, moved[1]),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::EndTraffic;

    use super::*;

    const OWN: Account = Account { claimed: 3.0, counted: 2.0 };

    fn file(read: u64, written: u64) -> FileState {
        FileState { asked_read_bytes: read, asked_written_bytes: written, ..Default::default() }
    }

    #[test]
    fn devices_verify_what_was_asked_of_them() {
        let moved = DeviceTraffic { read_bytes: 990, written_bytes: 510, ..Default::default() };
        let on_disk = |file: &FileState, device| verified(OWN, None, Some(file), device);
        let account = |claimed, counted| Account { claimed, counted };
        assert_eq!(on_disk(&file(1000, 500), Some(&moved)), account(1500.0, 1500.0));
        assert_eq!(on_disk(&file(1000, 500), None), account(1500.0, 0.0), "no device counted");
        let reading = on_disk(&file(1000, 0), Some(&moved));
        assert_eq!(reading, account(1000.0, 990.0), "what was written meanwhile is not its work");
        assert_eq!(verified(OWN, None, None, Some(&moved)), OWN);
    }

    #[test]
    fn interfaces_verify_what_was_received() {
        let end = |bytes| EndTraffic { in_bytes: Some(bytes), ..Default::default() };
        let network = NetworkTraffic {
            received_bytes: 900,
            client: end(10),
            server: end(1000),
            ..Default::default()
        };
        let account = verified(OWN, Some(&network), Some(&file(1, 1)), None);
        assert_eq!(account, Account { claimed: 900.0, counted: 1010.0 });
    }
}
