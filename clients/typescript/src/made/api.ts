// Made from the OpenAPI document by `npm run client`.
export interface components {
  schemas: {
    AcceptInvitationRequest: {
      token: string;
      password: string;
    };
    Actor: {
      kind: "api_key" | "session" | "operator" | "connect_session" | "system";
      id: string;
    };
    ApiKey: {
      id: string;
      applicationId: string;
      name: string;
      scope: "app_admin" | "restricted";
      allowedProfileIds: string[];
      keyPrefix: string;
      status: "active" | "revoked" | "expired";
      expiresAt: string | null;
      lastUsedAt: string | null;
      createdAt: string;
      createdBy: components["schemas"]["Actor"];
    };
    ApiKeyCreated: {
      id: string;
      applicationId: string;
      name: string;
      scope: "app_admin" | "restricted";
      allowedProfileIds: string[];
      keyPrefix: string;
      status: "active" | "revoked" | "expired";
      expiresAt: string | null;
      lastUsedAt: string | null;
      createdAt: string;
      createdBy: components["schemas"]["Actor"];
      secret: string;
    };
    Application: {
      id: string;
      name: string;
      status: "active" | "disabled";
      createdAt: string;
      updatedAt: string;
    };
    ApplicationCreated: {
      id: string;
      name: string;
      status: "active" | "disabled";
      createdAt: string;
      updatedAt: string;
      apiKey: {
        id: string;
        name: string;
        keyPrefix: string;
        scope: "app_admin" | "restricted";
        applicationId: string;
        secret: string;
      } | null;
    };
    ApplicationSummary: {
      id: string;
      name: string;
      status: "active" | "disabled";
    };
    AskForResetRequest: {
      email: string;
      deviceToken?: string | null;
    };
    AuditEvent: {
      id: string;
      at: string;
      actor: components["schemas"]["Actor"];
      action: string;
      target: {
        type: string;
        id: string;
      } | null;
      platformId: string | null;
      applicationId: string | null;
      outcome: "ok" | "denied";
      ip: string;
      requestId: string;
    };
    Balance: {
      tokenBalance: number;
      tokenReserved: number;
      available: number;
      dailyTokenBudget: number | null;
      usedToday: number;
      resetsAt: string;
    };
    BillingLimits: {
      dailyTokenBudget: number | null;
      usedToday: number;
      resetsAt: string;
      updatedAt: string | null;
    };
    ChangeEmailRequest: {
      newEmail: string;
      password: string;
      totpCode?: string | null;
    };
    ChangePasswordRequest: {
      currentPassword: string;
      newPassword: string;
    };
    ClosePlatformRequest: {
      name: string;
    };
    ClosedPlatform: {
      status: "closed";
      erasedAt: string;
    };
    ConfirmResetRequest: {
      token: string;
      newPassword: string;
    };
    ConfirmSessionRequest: {
      password: string;
      totpCode?: string | null;
      deviceToken?: string | null;
    };
    ConfirmTotpRequest: {
      code: string;
    };
    ConfirmedSession: {
      token: string;
      expiresIn: number;
      expiresAt: string;
      confirmedUntil: string;
    };
    ConnectSession: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "open" | "completed" | "canceled" | "expired";
      createdBy: components["schemas"]["Actor"];
      platforms: components["schemas"]["Network"][];
      returnUrl: string | null;
      state: string | null;
      branding: {
        name?: string;
        logoUrl?: string;
        faviconUrl?: string;
        accentColor?: string;
        backLabel?: string;
        locale?: "en" | "de" | "fr" | "es" | "pt";
        theme?: "light" | "dark" | "auto";
        privacyUrl?: string;
        termsUrl?: string;
        supportUrl?: string;
      };
      connections: components["schemas"]["Connection"][];
      expiresAt: string;
      createdAt: string;
    };
    ConnectSessionCreated: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "open" | "completed" | "canceled" | "expired";
      createdBy: components["schemas"]["Actor"];
      platforms: components["schemas"]["Network"][];
      returnUrl: string | null;
      state: string | null;
      branding: {
        name?: string;
        logoUrl?: string;
        faviconUrl?: string;
        accentColor?: string;
        backLabel?: string;
        locale?: "en" | "de" | "fr" | "es" | "pt";
        theme?: "light" | "dark" | "auto";
        privacyUrl?: string;
        termsUrl?: string;
        supportUrl?: string;
      };
      connections: components["schemas"]["Connection"][];
      expiresAt: string;
      createdAt: string;
      connectUrl: string;
    };
    Connection: {
      id: string;
      profileId: string;
      applicationId: string;
      platform: components["schemas"]["Network"];
      status: "active" | "needs_reauth" | "revoked";
      account: {
        id: string;
        username: string;
        displayName: string;
        avatarUrl: string | null;
        url: string;
        kind: string;
      };
      instanceUrl: string | null;
      scopes: string[];
      missingScopes: string[];
      unavailableFeatures: ("firstComment" | "remove")[];
      limits: {
        [key: string]: unknown;
      };
      quota: components["schemas"]["Quota"] | null;
      expiresAt: string | null;
      lastUsedAt: string | null;
      lastError: {
        code: components["schemas"]["LegErrorCode"];
        message: string;
        remediation: string;
        at: string;
      } | null;
      createdAt: string;
      updatedAt: string;
    };
    CreateApplicationRequest: {
      name: string;
      createDefaultKey?: boolean | null;
      defaultKeyName?: string | null;
    };
    CreateConnectSessionRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
      returnUrl?: string | null;
      state?: string | null;
      branding?: {
        name?: string | null;
        logoUrl?: string | null;
        faviconUrl?: string | null;
        accentColor?: string | null;
        backLabel?: string | null;
        locale?: "en" | "de" | "fr" | "es" | "pt" | null;
        theme?: "light" | "dark" | "auto" | null;
        privacyUrl?: string | null;
        termsUrl?: string | null;
        supportUrl?: string | null;
      } | null;
      expiresIn?: number | null;
    };
    CreateInvitationRequest: {
      email: string;
      role?: "owner" | "member" | null;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
    };
    CreateKeyRequest: {
      name?: string | null;
      expiresAt?: string | null;
      scope?: "app_admin" | "restricted" | null;
      allowedProfileIds?: string[] | null;
      applicationId?: string | null;
    };
    CreatePlatformRequest: {
      name: string;
      ownerEmail: string;
      ownerPassword: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
      initialTokens?: number | null;
    };
    CreateProfileRequest: {
      title: string;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
    };
    CreateUserRequest: {
      email: string;
      password: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
      role?: "owner" | "member" | null;
    };
    CreateWebhookRequest: {
      url: string;
      events?:
        | (
            | "*"
            | "post.scheduled"
            | "post.updated"
            | "post.processing"
            | "post.succeeded"
            | "post.partial"
            | "post.failed"
            | "post.canceled"
            | "leg.succeeded"
            | "leg.failed"
            | "comment.succeeded"
            | "comment.failed"
            | "leg.removed"
            | "leg.removal_failed"
            | "connection.linked"
            | "connection.expiring"
            | "connection.needs_reauth"
            | "connection.removed"
            | "billing.balance_low"
            | "billing.budget_reached"
            | "webhook.test"
          )[]
        | null;
      description?: string | null;
    };
    CreditPlatformRequest: {
      platformId: string;
      tokens: number;
      note?: string | null;
      reference?: string | null;
    };
    Credited: {
      entry: components["schemas"]["LedgerEntry"];
      tokenBalance: number;
    };
    Event: {
      id: string;
      type: components["schemas"]["EventType"];
      apiVersion: string;
      createdAt: string;
      sequence: number | null;
      applicationId: string | null;
      profileId: string | null;
      data: {
        [key: string]: unknown;
      };
      truncated?: true;
    };
    EventType:
      | "post.scheduled"
      | "post.updated"
      | "post.processing"
      | "post.succeeded"
      | "post.partial"
      | "post.failed"
      | "post.canceled"
      | "leg.succeeded"
      | "leg.failed"
      | "comment.succeeded"
      | "comment.failed"
      | "leg.removed"
      | "leg.removal_failed"
      | "connection.linked"
      | "connection.expiring"
      | "connection.needs_reauth"
      | "connection.removed"
      | "billing.balance_low"
      | "billing.budget_reached"
      | "webhook.test";
    Finding: {
      code: components["schemas"]["FindingCode"];
      rule: string;
      message: string;
      remediation: string;
      field: string | null;
      mediaIndex: number | null;
      docUrl: string;
    };
    FindingCode:
      | "connection_missing"
      | "connection_needs_reauth"
      | "permission_missing"
      | "account_restricted"
      | "rate_limited"
      | "quota_exceeded"
      | "duplicate_content"
      | "text_too_long"
      | "text_invalid"
      | "media_unreachable"
      | "media_rejected"
      | "media_processing_failed"
      | "media_not_ready"
      | "link_rejected"
      | "content_rejected"
      | "network_unavailable"
      | "outcome_unknown"
      | "app_misconfigured"
      | "invalid_request"
      | "feature_unsupported"
      | "profile_disabled"
      | "application_disabled"
      | "insufficient_tokens"
      | "schedule_missed"
      | "canceled"
      | "internal_error"
      | "alt_text_shortened"
      | "text_shortened"
      | "link_card_skipped"
      | "thumbnail_failed"
      | "kind_changed";
    FirstComment: {
      status: "pending" | "succeeded" | "failed" | "unknown";
      networkCommentId: string | null;
      url: string | null;
      at: string | null;
      error: components["schemas"]["LegError"] | null;
    };
    Health: {
      status: "ok";
    };
    Invitation: {
      id: string;
      email: string;
      role: "owner" | "member";
      status: "open" | "accepted" | "withdrawn" | "expired";
      invitedBy: {
        id: string;
        email: string;
      } | null;
      createdAt: string;
      expiresAt: string;
      acceptedAt: string | null;
    };
    InvitationMade: {
      id: string;
      email: string;
      role: "owner" | "member";
      status: "open" | "accepted" | "withdrawn" | "expired";
      invitedBy: {
        id: string;
        email: string;
      } | null;
      createdAt: string;
      expiresAt: string;
      acceptedAt: string | null;
      url?: string;
    };
    LedgerEntry: {
      id: string;
      type: "credit" | "debit" | "reserve" | "settle" | "release";
      operation:
        | "posts.validate"
        | "media.validate"
        | "publish_leg"
        | "posts.retry_leg"
        | "posts.schedule"
        | "connections.link"
        | "webhooks.create"
        | "billing.credit";
      tokens: number;
      balanceAfter: number;
      reservedAfter: number;
      postId: string | null;
      platform: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon" | null;
      applicationId: string | null;
      profileId: string | null;
      actor: components["schemas"]["Actor"];
      requestId: string;
      note: string | null;
      createdAt: string;
    };
    Leg: {
      platform: components["schemas"]["Network"];
      status: "pending" | "publishing" | "succeeded" | "failed" | "skipped";
      connectionId: string | null;
      account: {
        id: string;
        username: string;
        url: string;
      } | null;
      networkPostId: string | null;
      url: string | null;
      publishedAt: string | null;
      attempts: number;
      lastAttemptAt: string | null;
      nextAttemptAt: string | null;
      error: components["schemas"]["LegError"] | null;
      retryAvailable: boolean;
      warnings: {
        code: string;
        message: string;
      }[];
      tokensCharged: number;
      firstComment: components["schemas"]["FirstComment"] | null;
      removal: components["schemas"]["Removal"] | null;
    };
    LegError: {
      code: components["schemas"]["LegErrorCode"];
      message: string;
      remediation: string;
      rule: string | null;
      mediaIndex: number | null;
      networkCode: string | null;
      docUrl: string;
    };
    LegErrorCode:
      | "connection_missing"
      | "connection_needs_reauth"
      | "permission_missing"
      | "account_restricted"
      | "rate_limited"
      | "quota_exceeded"
      | "duplicate_content"
      | "text_too_long"
      | "text_invalid"
      | "media_unreachable"
      | "media_rejected"
      | "media_processing_failed"
      | "media_not_ready"
      | "link_rejected"
      | "content_rejected"
      | "network_unavailable"
      | "outcome_unknown"
      | "app_misconfigured"
      | "invalid_request"
      | "feature_unsupported"
      | "profile_disabled"
      | "application_disabled"
      | "insufficient_tokens"
      | "schedule_missed"
      | "canceled"
      | "internal_error";
    LogInRequest: {
      email: string;
      password: string;
      totpCode?: string | null;
      deviceToken?: string | null;
    };
    LogOutRequest: {
      everywhere?: boolean | null;
    };
    MakeResetLinkRequest: {
      removeTotp?: boolean | null;
    };
    Me: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
      applications: components["schemas"]["ApplicationSummary"][];
      counts: {
        profiles: number;
        activeApiKeys: number;
        webhooks: number;
        connections: number;
        applications: number;
      };
      application: components["schemas"]["ApplicationSummary"] | null;
      auth: {
        kind: "api_key" | "session";
        apiKeyId: string | null;
        userId: string | null;
        applicationId: string | null;
        role?: "owner" | "member";
        confirmedUntil?: string | null;
      };
      user?: components["schemas"]["User"];
    };
    MintProfileGrantRequest: {
      profileId: string;
      expiresIn?: number | null;
    };
    Network: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
    NetworkValidation: {
      valid: boolean;
      errors: components["schemas"]["Finding"][];
      warnings: components["schemas"]["Finding"][];
      usedCharacters: number | null;
      maxCharacters: number | null;
      quota: components["schemas"]["Quota"] | null;
      connection: {
        id: string;
        status: "active" | "needs_reauth" | "revoked";
      } | null;
    };
    Notices: {
      connectionNeedsReauth: boolean;
      endpointDisabled: boolean;
      balanceLow: boolean;
      outcomeUnknown: boolean;
    };
    Page: {
      nextCursor: string | null;
      hasMore: boolean;
      limit: number;
    };
    Platform: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
    };
    PlatformAccount: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
      applications: components["schemas"]["ApplicationSummary"][];
      counts: {
        profiles: number;
        activeApiKeys: number;
        webhooks: number;
        connections: number;
        applications: number;
      };
    };
    PlatformCreated: {
      platform: components["schemas"]["PlatformSummary"];
      user: components["schemas"]["User"];
    };
    PlatformOptions: {
      facebook?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        kind?: "feed" | "reel" | "story" | null;
        link?: string | null;
        title?: string | null;
        firstComment?: string | null;
      } | null;
      instagram?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        kind?: "feed" | "reel" | "story" | null;
        shareToFeed?: boolean | null;
        collaborators?: string[] | null;
        coverUrl?: string | null;
        thumbOffsetMs?: number | null;
        firstComment?: string | null;
      } | null;
      linkedin?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        visibility?: "PUBLIC" | "CONNECTIONS" | null;
        link?: {
          url: string;
          title: string;
          description?: string | null;
          thumbnailUrl?: string | null;
        } | null;
        documentTitle?: string | null;
        firstComment?: string | null;
      } | null;
      bluesky?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        langs?: string[] | null;
        linkCard?:
          | ({
              url: string;
              title: string;
              description?: string | null;
              thumbnailUrl?: string | null;
            } | null)
          | false;
        labels?: ("sexual" | "nudity" | "porn" | "graphic-media" | "!no-unauthenticated")[] | null;
      } | null;
      mastodon?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        visibility?: "public" | "unlisted" | "private" | "direct" | null;
        spoilerText?: string | null;
        sensitive?: boolean | null;
        language?: string | null;
        focus?:
          | ({
              x: number;
              y: number;
            } | null)[]
          | null;
      } | null;
    };
    PlatformSummary: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
    };
    Post: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";
      text: string;
      platforms: components["schemas"]["Network"][];
      mediaUrls: string[];
      altTexts: (string | null)[];
      platformOptions: {
        [key: string]: {
          [key: string]: unknown;
        };
      };
      scheduleAt: string | null;
      externalId: string | null;
      metadata: {
        [key: string]: string;
      };
      legs: components["schemas"]["Leg"][];
      tokens: {
        reserved: number;
        charged: number;
        released: number;
      };
      requestId: string;
      createdAt: string;
      updatedAt: string;
      startedAt: string | null;
      completedAt: string | null;
    };
    PostRequest: {
      text?: string | null;
      platforms: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[];
      mediaUrls?: string[] | null;
      altTexts?: (string | null)[] | null;
      scheduleAt?: string | null;
      platformOptions?: components["schemas"]["PlatformOptions"] | null;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
    };
    Profile: {
      id: string;
      applicationId: string;
      title: string;
      externalId: string | null;
      metadata: {
        [key: string]: string;
      };
      status: "active" | "disabled" | "erasing";
      connections: {
        platform: string;
        status: string;
        username: string;
      }[];
      createdAt: string;
      updatedAt: string;
    };
    ProfileGrant: {
      token: string;
      profileId: string;
      applicationId: string;
      expiresIn: number;
      expiresAt: string;
      header: string;
    };
    Quota: {
      used: number;
      limit: number;
      remaining: number;
      resetsAt: string | null;
    };
    RateCard: {
      currency: "tokens";
      version: string;
      items: {
        operation:
          | "posts.validate"
          | "media.validate"
          | "publish_leg"
          | "posts.retry_leg"
          | "posts.schedule"
          | "connections.link"
          | "webhooks.create";
        tokens: number;
        unit: string;
        description: string;
      }[];
    };
    Readiness: {
      status: "ready";
      checks: {
        tables: {
          status: "ok" | "failed";
          durationMs: number;
        };
        queues: {
          status: "ok" | "failed";
          durationMs: number;
        };
        config: {
          status: "ok" | "failed";
          durationMs: number;
        };
      };
      mail?: "ok" | "failing";
    };
    RecoveryCodes: {
      readonly recoveryCodes: string[];
    };
    RedriveCounts: {
      scanned: number;
      requeued: number;
      skipped: number;
      nextCursor: string | null;
    };
    RedriveDeadDeliveriesRequest: {
      platformId?: string | null;
      webhookId?: string | null;
      since?: string | null;
      cursor?: string | null;
    };
    Removal: {
      status: "pending" | "removed" | "failed" | "unsupported";
      requestedAt: string;
      at: string | null;
      error: components["schemas"]["LegError"] | null;
    };
    RemovePostRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
    };
    RemoveTotpByPostRequest: {
      password: string;
      code: string;
    };
    RemoveTotpRequest: {
      password: string;
      code: string;
    };
    RenameKeyRequest: {
      name: string;
    };
    ResetLink: {
      url: string;
      expiresAt: string;
    };
    RetryPostRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
    };
    Session: {
      token: string;
      expiresIn: number;
      expiresAt: string;
      user: components["schemas"]["User"];
      platform: components["schemas"]["Platform"];
      deviceToken: string;
    };
    SignUpRequest: {
      email: string;
      password: string;
      platformName: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
    };
    TimelineStep: {
      at: string;
      step:
        | "accepted"
        | "scheduled"
        | "fired"
        | "reserved"
        | "retried"
        | "canceled"
        | "leg_claimed"
        | "network_call"
        | "leg_waiting"
        | "leg_settled"
        | "comment_sent"
        | "removal"
        | "completed"
        | "webhook_sent";
      platform: components["schemas"]["Network"] | null;
      attempt: number | null;
      outcome: string;
      durationMs: number | null;
      networkStatus: number | null;
      networkCode: string | null;
      note: string | null;
      webhookId: string | null;
      deliveryId: string | null;
    };
    TotpSecret: {
      secret: string;
      otpauthUrl: string;
    };
    UpdateApplicationRequest: {
      name?: string;
      status?: "active" | "disabled";
    };
    UpdateBillingLimitsRequest: {
      dailyTokenBudget: number | null;
    };
    UpdateNoticesRequest: {
      connectionNeedsReauth?: boolean;
      endpointDisabled?: boolean;
      balanceLow?: boolean;
      outcomeUnknown?: boolean;
    };
    UpdatePlatformRequest: {
      status: "active" | "suspended";
    };
    UpdatePostRequest: {
      text?: string | null;
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[];
      mediaUrls?: string[] | null;
      altTexts?: (string | null)[] | null;
      scheduleAt?: string;
      platformOptions?: components["schemas"]["PlatformOptions"] | null;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
      expectedUpdatedAt?: string;
    };
    UpdateProfileRequest: {
      title?: string;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
      status?: "active" | "disabled";
    };
    UpdateUserRequest: {
      role?: "owner" | "member";
      locale?: "en" | "de" | "fr" | "es" | "pt";
    };
    UpdateWebhookRequest: {
      url?: string;
      events?: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      description?: string | null;
      status?: "active" | "disabled";
    };
    UsageTotal: {
      key: string | null;
      tokens: number;
      entries: number;
    };
    User: {
      id: string;
      email: string;
      role: "owner" | "member";
      emailVerified: boolean;
      locale: "en" | "de" | "fr" | "es" | "pt";
      totpEnabled: boolean;
      createdAt: string;
      lastLoginAt: string | null;
    };
    UserFound: {
      id: string;
      email: string;
      role: "owner" | "member";
      emailVerified: boolean;
      locale: "en" | "de" | "fr" | "es" | "pt";
      totpEnabled: boolean;
      createdAt: string;
      lastLoginAt: string | null;
      platformId: string;
    };
    ValidationResult: {
      valid: boolean;
      tokensEstimate: number;
      platforms: {
        facebook?: components["schemas"]["NetworkValidation"];
        instagram?: components["schemas"]["NetworkValidation"];
        linkedin?: components["schemas"]["NetworkValidation"];
        bluesky?: components["schemas"]["NetworkValidation"];
        mastodon?: components["schemas"]["NetworkValidation"];
      };
      media: {
        url: string;
        ok: boolean;
        field: string;
        contentType: string | null;
        bytes: number | null;
        error: string | null;
      }[];
    };
    VerifyEmailRequest: {
      token: string;
      password?: string | null;
    };
    Webhook: {
      id: string;
      applicationId: string;
      url: string | null;
      description: string | null;
      events: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      status: "active" | "disabled";
      disabledReason: string | null;
      secretHint: string | null;
      lastSuccessAt: string | null;
      lastFailureAt: string | null;
      health: components["schemas"]["WebhookHealth"];
      createdAt: string;
      updatedAt: string;
    };
    WebhookDelivery: {
      id: string;
      webhookId: string;
      eventId: string;
      eventType: components["schemas"]["EventType"];
      postId: string | null;
      status: "pending" | "succeeded" | "dead";
      attempts: number;
      nextAttemptAt: string | null;
      lastStatusCode: number | null;
      lastError:
        | (
            | "blocked_address"
            | "timeout"
            | "connect_failed"
            | "tls_failed"
            | "connection_lost"
            | "too_large"
            | "endpoint_failing"
            | "endpoint_deleted"
            | "endpoint_disabled"
            | "event_expired"
            | "interrupted"
            | null
          )
        | string;
      durationMs: number | null;
      responseBody: string | null;
      redriveOf: string | null;
      createdAt: string;
      deliveredAt: string | null;
    };
    WebhookHealth: {
      state: "ok" | "failing" | "waiting";
      failuresInARow: number;
      failingSince: string | null;
      nextTryAt: string | null;
    };
    WebhookWithSecret: {
      id: string;
      applicationId: string;
      url: string;
      description: string | null;
      events: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      status: "active" | "disabled";
      disabledReason: string | null;
      secretHint: string;
      lastSuccessAt: string | null;
      lastFailureAt: string | null;
      health: components["schemas"]["WebhookHealth"];
      createdAt: string;
      updatedAt: string;
      secret: string;
    };
    ErrorDetails: {
      api_key_expired: Record<string, never>;
      api_key_revoked: Record<string, never>;
      app_admin_required: Record<string, never>;
      application_disabled: Record<string, never>;
      application_header_required: Record<string, never>;
      application_mismatch: Record<string, never>;
      confirmation_required: {
        maxAgeSeconds: number;
      };
      conflict: {
        existingId?: string;
      };
      daily_budget_reached: {
        budget: number;
        used: number;
        required: number;
        resetsAt: string;
      };
      duplicate_content: {
        postId: string | null;
        platforms: components["schemas"]["Network"][];
        allowedAfter: string | null;
      };
      email_unverified: Record<string, never>;
      idempotency_conflict: Record<string, never>;
      idempotency_key_invalid: Record<string, never>;
      idempotency_key_required: Record<string, never>;
      insufficient_tokens: {
        required: number;
        available: number;
      };
      internal_error: Record<string, never>;
      invalid_credentials: Record<string, never>;
      invalid_cursor: Record<string, never>;
      invalid_grant_token: Record<string, never>;
      invalid_json: Record<string, never>;
      invalid_link: Record<string, never>;
      invalid_state: {
        status?: string;
        remove?: string;
      };
      invitation_required: Record<string, never>;
      length_required: Record<string, never>;
      limit_reached: Record<string, never>;
      mail_disabled: Record<string, never>;
      method_not_allowed: {
        allow: string[];
      };
      not_found: Record<string, never>;
      not_publishable: {
        platforms: {
          facebook?: components["schemas"]["NetworkValidation"];
          instagram?: components["schemas"]["NetworkValidation"];
          linkedin?: components["schemas"]["NetworkValidation"];
          bluesky?: components["schemas"]["NetworkValidation"];
          mastodon?: components["schemas"]["NetworkValidation"];
        };
      };
      not_ready: {
        checks: {
          tables: {
            status: "ok" | "failed";
            durationMs: number;
          };
          queues: {
            status: "ok" | "failed";
            durationMs: number;
          };
          config: {
            status: "ok" | "failed";
            durationMs: number;
          };
        };
      };
      nothing_to_remove: {
        platforms: components["schemas"]["Network"][];
      };
      nothing_to_retry: Record<string, never>;
      owner_required: Record<string, never>;
      payload_too_large: {
        bytesMax: number;
      };
      platform_closed: Record<string, never>;
      platform_suspended: Record<string, never>;
      profile_disabled: Record<string, never>;
      profile_header_mismatch: {
        header: string;
        path: string;
      };
      profile_header_required: Record<string, never>;
      profile_not_allowed: Record<string, never>;
      rate_limited: {
        retryAfter: number;
      };
      removal_unsupported: {
        posts: {
          platform: components["schemas"]["Network"];
          url: string | null;
        }[];
      };
      role_required: Record<string, never>;
      service_unavailable: Record<string, never>;
      session_expired: Record<string, never>;
      session_required: Record<string, never>;
      signup_disabled: Record<string, never>;
      totp_required: Record<string, never>;
      unauthenticated: Record<string, never>;
      unsupported_media_type: {
        acceptEncoding?: "identity";
      };
      validation_failed: {
        issues: {
          path: string;
          code: string;
          message: string;
        }[];
      };
    };
    Operations: {
      /** Whether the process is alive. Checks nothing else. */
      getHealth: {
        input: Record<string, never>;
        answer: components["schemas"]["Health"];
      };
      /** Whether the service can do its work: storage and settings. */
      getReadiness: {
        input: Record<string, never>;
        answer: components["schemas"]["Readiness"];
      };
      /** This description of the API, for machines. */
      getOpenApi: {
        input: Record<string, never>;
        answer: {
          [key: string]: unknown;
        };
      };
      /** The same description for people. */
      getDocs: {
        input: Record<string, never>;
        answer: string;
      };
      /** The same description in Markdown. */
      getDocsMarkdown: {
        input: Record<string, never>;
        answer: string;
      };
      /** An index of the description for language models, in the form of llmstxt.org. */
      getLlmsIndex: {
        input: Record<string, never>;
        answer: string;
      };
      /** Create a platform with its first user, and sign in. */
      signUp: {
        input: components["schemas"]["SignUpRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Sign in to the dashboard. */
      logIn: {
        input: components["schemas"]["LogInRequest"];
        answer: components["schemas"]["Session"];
      };
      /** End all sessions of the user, or only this one. */
      logOut: {
        input: {
          applicationId?: string;
        } & components["schemas"]["LogOutRequest"];
      };
      /** Confirm the session with the password, for actions that a stolen session must not do. */
      confirmSession: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmSessionRequest"];
        answer: components["schemas"]["ConfirmedSession"];
      };
      /** Change the password, and end every other session of the user. */
      changePassword: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangePasswordRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Get a secret for an authenticator app. */
      startTotp: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["TotpSecret"];
      };
      /** Switch TOTP off and delete its recovery codes. */
      removeTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpRequest"];
      };
      /** Switch TOTP on with the app's first code. */
      confirmTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmTotpRequest"];
        answer: components["schemas"]["RecoveryCodes"];
      };
      /** Switch TOTP off, like `DELETE /v1/auth/totp`. */
      removeTotpByPost: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpByPostRequest"];
      };
      /** Verify an e-mail, or finish its change, with the link that was mailed to it. */
      verifyEmail: {
        input: components["schemas"]["VerifyEmailRequest"];
      };
      /** Mail the link that verifies the session's user again. */
      resendVerification: {
        input: {
          applicationId?: string;
        };
        answer: Record<string, never>;
      };
      /** Mail a link that sets a new password. */
      askForReset: {
        input: components["schemas"]["AskForResetRequest"];
        answer: Record<string, never>;
      };
      /** Set a new password with the link that was mailed. */
      confirmReset: {
        input: components["schemas"]["ConfirmResetRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Mail a link to a new e-mail address, which makes it the user's. */
      changeEmail: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangeEmailRequest"];
        answer: Record<string, never>;
      };
      /** The page behind the link in a notice, which switches such mails off. */
      showNoticesPage: {
        input: {
          token: string;
        };
        answer: string;
      };
      /** Switch the notice of the link off, for the whole platform. */
      switchNoticeOff: {
        input: {
          token: string;
        };
        answer: string;
      };
      /** The page behind a one-time link, for a browser. */
      showLinkPage: {
        input: {
          kind: "verify" | "reset" | "email" | "invitation";
          token: string;
          username?: string;
          password?: string;
        };
        answer: string;
      };
      /** Become a user with the link of an invitation, and sign in. */
      acceptInvitation: {
        input: components["schemas"]["AcceptInvitationRequest"];
        answer: components["schemas"]["Session"];
      };
      /** List the platform's staff, newest first. */
      listUsers: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["User"];
      };
      /** Add a colleague, who can sign in immediately. */
      createUser: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Give a colleague or yourself another role, or change your own language. */
      updateUser: {
        input: {
          userId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Remove a colleague or yourself; never the last owner. */
      deleteUser: {
        input: {
          userId: string;
          applicationId?: string;
        };
      };
      /** List the platform's invitations, newest first. */
      listInvitations: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "open" | "accepted" | "withdrawn" | "expired";
          applicationId?: string;
        };
        item: components["schemas"]["Invitation"];
      };
      /** Invite a colleague, who chooses a password. */
      createInvitation: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateInvitationRequest"];
        answer: components["schemas"]["InvitationMade"];
      };
      /** Withdraw an invitation, which ends its link. */
      withdrawInvitation: {
        input: {
          invitationId: string;
          applicationId?: string;
        };
      };
      /** The caller's platform with its wallet, applications and counts. */
      getMe: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Me"];
      };
      /** The notices that the platform's owners get by mail. */
      getNotices: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Notices"];
      };
      /** Switch notices by mail on or off. */
      updateNotices: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateNoticesRequest"];
        answer: components["schemas"]["Notices"];
      };
      /** What operations cost. */
      getRateCard: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["RateCard"];
      };
      /** Recent audit events of the platform, as far as this process saw them. */
      listAudit: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** Close the platform. All its data is erased seven days later. */
      closePlatform: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ClosePlatformRequest"];
        answer: components["schemas"]["ClosedPlatform"];
      };
      /** List applications: all of the platform for a session, its own for a key. */
      listApplications: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Application"];
      };
      /** Create an application with its first key, unless declined. */
      createApplication: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateApplicationRequest"];
        answer: components["schemas"]["ApplicationCreated"];
      };
      /** Read an application. */
      getApplication: {
        input: {
          applicationId: string;
        };
        answer: components["schemas"]["Application"];
      };
      /** Rename, disable or enable an application. */
      updateApplication: {
        input: {
          applicationId: string;
        } & components["schemas"]["UpdateApplicationRequest"];
        answer: components["schemas"]["Application"];
      };
      /** List API keys, without their secrets. */
      listKeys: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["ApiKey"];
      };
      /** Create an API key. Only this answer contains its secret. */
      createKey: {
        input: components["schemas"]["CreateKeyRequest"];
        answer: components["schemas"]["ApiKeyCreated"];
      };
      /** Rename an API key. */
      renameKey: {
        input: {
          keyId: string;
          applicationId?: string;
        } & components["schemas"]["RenameKeyRequest"];
        answer: components["schemas"]["ApiKey"];
      };
      /** Delete an API key and everything stored about it. */
      deleteKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** Revoke an API key. It stays listed. */
      revokeKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** Mint a grant that lets a restricted key act for a profile for a while. */
      mintProfileGrant: {
        input: {
          applicationId?: string;
        } & components["schemas"]["MintProfileGrantRequest"];
        answer: components["schemas"]["ProfileGrant"];
      };
      /** List profiles. A restricted key sees those on its allowlist. */
      listProfiles: {
        input: {
          limit?: number;
          cursor?: string;
          externalId?: string;
          status?: "active" | "disabled" | "erasing";
          applicationId?: string;
        };
        item: components["schemas"]["Profile"];
      };
      /** Create a profile in the caller's application. */
      createProfile: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      /** Read a profile. */
      getProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** Change a profile. Fields that aren't named stay unchanged. */
      updateProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      /** Disable a profile. It can be reactivated. */
      disableProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Profile"];
      };
      /** Erase a profile and all its personal data, for good. */
      eraseProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** Check a post against the networks' rules. */
      validatePost: {
        input: {
          media?: "true" | "false";
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["ValidationResult"];
      };
      /** Publish a post. */
      createPost: {
        input: {
          idempotencyKey?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** The profile's posts, newest first. */
      listPosts: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";
          platform?: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
          externalId?: string;
          from?: string;
          to?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["Post"];
      };
      /** A post with its legs. */
      getPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Post"];
      };
      /** Change a scheduled post. */
      updatePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdatePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Cancel a scheduled post. */
      cancelPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Post"];
      };
      /** What happened to a post, in order. */
      getTimeline: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["TimelineStep"][];
      };
      /** Retry failed legs. */
      retryPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RetryPostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Remove what is published. */
      removePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RemovePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** List the profile's connections. */
      listConnections: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["Connection"];
      };
      /** Unlink an account: its tokens are purged and revoked at the network. */
      removeConnection: {
        input: {
          profileId?: string;
          connectionId: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Connection"];
      };
      /** Start a visit to the hosted page on which an end user links accounts. */
      createConnectSession: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["CreateConnectSessionRequest"];
        answer: components["schemas"]["ConnectSessionCreated"];
      };
      /** List the profile's open connect sessions, without the addresses of their pages. */
      listConnectSessions: {
        input: {
          profileId?: string;
          limit?: number;
          cursor?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["ConnectSession"];
      };
      /** Read a connect session and the connections made in it. */
      getConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** End an open connect session. */
      cancelConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** The hosted page, for the end user's browser. */
      showConnectPage: {
        input: {
          session?: string;
          token?: string;
          problem?: string;
          network?: string;
          linked?: string;
          choice?: string;
        };
        answer: string;
      };
      /** This service as an OAuth client of the AT Protocol, for its authorisation servers. */
      getBlueskyClientMetadata: {
        input: Record<string, never>;
        answer: {
          [key: string]: unknown;
        };
      };
      /** The public keys by which this service proves itself as that client. */
      getBlueskyClientKeys: {
        input: Record<string, never>;
        answer: {
          [key: string]: unknown;
        };
      };
      /** Shows the person who requested a deletion whether it was received or is done. */
      showMetaDeletion: {
        input: {
          code: string;
        };
        answer: string;
      };
      /** An image of a post, fitted for a network that fetches files itself. */
      getMedia: {
        input: {
          token: string;
        };
        bytes: boolean;
      };
      /** The wallet's balance. */
      getBalance: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Balance"];
      };
      /** The ledger, newest first. */
      listUsage: {
        input: {
          limit?: number;
          cursor?: string;
          from?: string;
          to?: string;
          operation?:
            | "posts.validate"
            | "media.validate"
            | "publish_leg"
            | "posts.retry_leg"
            | "posts.schedule"
            | "connections.link"
            | "webhooks.create"
            | "billing.credit";
          applicationId?: string;
          profileId?: string;
          postId?: string;
          groupBy?: "day" | "application" | "profile" | "operation";
        };
        item: components["schemas"]["LedgerEntry"] | components["schemas"]["UsageTotal"];
      };
      /** The daily token budget and its use. */
      getBillingLimits: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["BillingLimits"];
      };
      /** Set or remove the daily token budget. */
      updateBillingLimits: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateBillingLimitsRequest"];
        answer: components["schemas"]["BillingLimits"];
      };
      /** Add tokens to a platform's wallet. */
      creditPlatform: {
        input: components["schemas"]["CreditPlatformRequest"];
        answer: components["schemas"]["Credited"];
      };
      /** List webhook endpoints, without their secrets. */
      listWebhooks: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Webhook"];
      };
      /** Register a webhook endpoint. Only this answer contains its secret. */
      createWebhook: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateWebhookRequest"];
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Change, disable or reactivate a webhook endpoint. */
      updateWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateWebhookRequest"];
        answer: components["schemas"]["Webhook"];
      };
      /** Delete a webhook endpoint. */
      deleteWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer?: components["schemas"]["Webhook"];
      };
      /** Replace the signing secret. Only this answer contains the new one. */
      rotateWebhookSecret: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Send the endpoint a `webhook.test` event. */
      testWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** List an endpoint's deliveries, newest first. */
      listDeliveries: {
        input: {
          webhookId: string;
          limit?: number;
          cursor?: string;
          status?: "pending" | "succeeded" | "dead";
          eventType?:
            | "post.scheduled"
            | "post.updated"
            | "post.processing"
            | "post.succeeded"
            | "post.partial"
            | "post.failed"
            | "post.canceled"
            | "leg.succeeded"
            | "leg.failed"
            | "comment.succeeded"
            | "comment.failed"
            | "leg.removed"
            | "leg.removal_failed"
            | "connection.linked"
            | "connection.expiring"
            | "connection.needs_reauth"
            | "connection.removed"
            | "billing.balance_low"
            | "billing.budget_reached"
            | "webhook.test";
          applicationId?: string;
        };
        item: components["schemas"]["WebhookDelivery"];
      };
      /** Send a delivery's event again. */
      redriveDelivery: {
        input: {
          webhookId: string;
          deliveryId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** The application's events of the last 30 days, oldest first. */
      listEvents: {
        input: {
          limit?: number;
          cursor?: string;
          after?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Event"];
      };
      /** List all platforms. */
      listPlatforms: {
        input: {
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["PlatformSummary"];
      };
      /** Create a platform with its first user. */
      createPlatform: {
        input: components["schemas"]["CreatePlatformRequest"];
        answer: components["schemas"]["PlatformCreated"];
      };
      /** Read a platform with its wallet, applications and counts. */
      getPlatform: {
        input: {
          platformId: string;
        };
        answer: components["schemas"]["PlatformAccount"];
      };
      /** Suspend or reactivate a platform, or open a closed one again. */
      updatePlatform: {
        input: {
          platformId: string;
        } & components["schemas"]["UpdatePlatformRequest"];
        answer: components["schemas"]["PlatformSummary"];
      };
      /** Find the user with an e-mail. */
      findUsers: {
        input: {
          email: string;
        };
        item: components["schemas"]["UserFound"];
      };
      /** List a platform's staff, newest first. */
      listPlatformUsers: {
        input: {
          platformId: string;
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["User"];
      };
      /** Remove a user of a platform, which frees the e-mail. */
      removePlatformUser: {
        input: {
          platformId: string;
          userId: string;
        };
      };
      /** Make a link with which a user sets a new password. */
      makeResetLink: {
        input: {
          platformId: string;
          userId: string;
        } & components["schemas"]["MakeResetLinkRequest"];
        answer: components["schemas"]["ResetLink"];
      };
      /** Recent audit events of all platforms, as far as this process saw them. */
      listAllAudit: {
        input: {
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** Redrive dead webhook deliveries, the latest first. */
      redriveDeadDeliveries: {
        input: components["schemas"]["RedriveDeadDeliveriesRequest"];
        answer: components["schemas"]["RedriveCounts"];
      };
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
