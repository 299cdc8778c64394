//! Limits on how many clients are served at a time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// The key of a client in limits: the IPv4 address, or the /64 network of the IPv6 address, because
/// a host can use any number of addresses in its network (RFC 4291 § 2.5.1).
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Why there is no place for a client. `0` is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoPlace {
    /// All places are taken.
    #[error("all {0} places are taken")]
    Total(usize),
    /// The client's address, or its IPv6 network of 64 bits, has all places that one may have.
    #[error("{0} places are taken from this address, which is the maximum")]
    Address(usize),
}

/// Places for clients: a number in total, and a number per IPv4 address or IPv6 network of 64 bits.
#[derive(Debug)]
pub struct Places {
    total: usize,
    per_address: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    /// By [`network`]; no entry is zero.
    by_network: HashMap<IpAddr, usize>,
}

/// The place of a client. Dropping it makes the place free.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    network: Option<IpAddr>,
}

impl Places {
    /// Places, all free.
    #[must_use]
    pub fn new(total: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { total, per_address, taken: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a client. A client without an address, which is in this process, counts
    /// only in total.
    ///
    /// # Errors
    /// If there is no place.
    pub fn take(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Place, NoPlace> {
        let network = client.map(network);
        let mut taken = self.taken();
        if taken.total >= self.total {
            return Err(NoPlace::Total(self.total));
        }
        if let Some(network) = network {
            let count = taken.by_network.get(&network).copied().unwrap_or_default();
            if count >= self.per_address {
                return Err(NoPlace::Address(self.per_address));
            }
            taken.by_network.insert(network, count + 1);
        }
        taken.total += 1;
        Ok(Place { places: Arc::clone(self), network })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.total -= 1;
        let Some(network) = self.network else { return };
        if let Some(count) = taken.by_network.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                taken.by_network.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn an_address_has_a_part_of_the_places() {
        let places = Places::new(3, 2);
        let [one, two] = [(); 2].map(|()| places.take(address("192.0.2.1")).unwrap());
        assert_eq!(places.take(address("192.0.2.1")).err(), Some(NoPlace::Address(2)));
        assert_eq!(places.take(address("::ffff:192.0.2.1")).err(), Some(NoPlace::Address(2)));
        let other = places.take(address("192.0.2.2")).unwrap();
        assert_eq!(places.take(address("192.0.2.3")).err(), Some(NoPlace::Total(3)));
        drop((one, other));
        let again = [places.take(address("192.0.2.1")).unwrap(), places.take(None).unwrap()];
        assert_eq!(places.take(None).err(), Some(NoPlace::Total(3)));
        drop((two, again));
        assert!(places.taken().by_network.is_empty(), "addresses without places are forgotten");
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let places = Places::new(9, 1);
        let _one = places.take(address("2001:db8:1:2::3")).unwrap();
        let second = places.take(address("2001:db8:1:2:ffff::4"));
        assert_eq!(second.err(), Some(NoPlace::Address(1)));
        assert!(places.take(address("2001:db8:1:3::3")).is_ok());
    }
}
