/** One delivery, signed with openssl and not with the code under test. `docs/webhooks.md` prints it. */
export const VECTOR = {
  secret: "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw=",
  eventId: "evt_01KJW2M3E8W0R7QK9V3C5T1XAB",
  timestamp: 1_772_622_733,
  body: '{"id":"evt_01KJW2M3E8W0R7QK9V3C5T1XAB","type":"webhook.test","apiVersion":"v1","createdAt":"2026-03-04T11:12:13.000Z","sequence":null,"applicationId":"app_01KJW2M3E8W0R7QK9V3C5T1XAC","profileId":null,"data":{}}',
  v1: "2886948b7bbff56542369dc41456fddfd1a742d6daa30868eaa081289e38f7da",
  standard: "GtixhXq01ioo9WIoYnhBba/NgKYKire7kUXJ8btN+9U=",
} as const;

/** The same delivery by another secret, as during a rotation. */
export const PREVIOUS = {
  secret: "whsec_3NXOx8C5squknZaPiIF6c2xlXldQSUI7NC0mHxgRCgM=",
  v1: "e760679b8df3a0ea51707688c077b629b17383ce4c016397e3f8ce22d1386c31",
  standard: "fI1F+DsJ3MwzbWAlVdSeZyBxk+a6jd/lFNwiGbxLvCQ=",
} as const;
